"""Long commands, killed at random moments, on full disks and against each other: the result must be the same to the byte.

A command runs in a fork of this process, in which everything is imported already, so that a kill costs little.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import monotonic, sleep

from dtg.cli import main
from tools.attack.readers import Tally
from tools.attack.samples import CONLLU, SAVED, SUITE

FAILED_BY_ITSELF = (0, 1, 130, 143)
IGNORED = re.compile(r"\.meta\.json$|^\.|log\.jsonl$|settings\.json$|part-\d+\.jsonl$|\.lock$")
LEFT_OUT = {"figures", "checkpoints"}
WARM = (
    "dtg.cli.app", "dtg.cli.commands.surprisal", "dtg.cli.commands.parse", "dtg.cli.commands.score", "dtg.cli.commands.rerank",
    "dtg.cli.commands.evaluation.command", "dtg.cli.surprisal_table", "dtg.language_model", "dtg.parser", "dtg.evaluation",
    "dtg.proposals.from_file", "pyarrow.parquet", "spacy.lang.en",
)  # fmt: skip
SETTINGS = (
    "model.layers=1", "model.width=16", "model.attention_heads=2", "model.head_width=8", "model.feedforward=16",
    "training.epochs=4", "training.checkpoint_every=3", "training.batch_sentences=4",
)  # fmt: skip
TRAINING = ["--device", "cpu", "--threads", "1", *(part for setting in SETTINGS for part in ("--set", setting))]
PATIENCE = 300  # seconds for a command that is not killed


@dataclass(frozen=True, slots=True)
class Command:
    """A command that writes one file or folder, and can be resumed."""

    name: str
    arguments: Sequence[str]
    out: str
    resume: Sequence[str] = ("--resume",)


def commands(folder: Path, model: str, parser: str) -> list[Command]:
    """The long commands, on small inputs; `folder` has those."""
    text, trees, suite = (str(folder / name) for name in ("text.txt", "trees.conllu", "suite.json"))
    of_model = ["--model", model, "--device", "cpu"]
    return [
        Command("surprisal, CSV", ["surprisal", text, "--tokenized", "--beam", "8", *of_model], "out.csv"),
        Command("surprisal, Parquet", ["surprisal", text, "--tokenized", "--beam", "8", *of_model], "out.parquet"),
        Command(
            "parse",
            ["parse", text, "--tokenized", "--nbest", "32", "--parser", parser, "--device", "cpu"],
            "out.conllu",
        ),
        Command("score", ["score", "--conllu", trees, *of_model], "out.csv"),
        Command("rerank", ["rerank", trees, "--parser", parser, "--trees", "5", *of_model], "out.conllu"),
        Command("evaluate sg", ["evaluate", "sg", suite, "--beam", "8", *of_model], "results", ()),
        Command("train", ["train", "tiny", "--data", str(folder / "corpus"), *TRAINING], "run"),
    ]


def warm_up() -> None:
    """Import what commands import, so that their forks need not."""
    for name in WARM:
        importlib.import_module(name)


def make_inputs(folder: Path, sentences: int) -> None:
    """The inputs of `commands`."""
    folder.mkdir(parents=True, exist_ok=True)
    random, words = Random(0), "the dog cat man sees barks and a number of old houses that runs".split()
    lines = (" ".join(random.choices(words, k=random.randrange(2, 5))) for _ in range(sentences))
    (folder / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    one = CONLLU.split("\n\n")[0]
    (folder / "trees.conllu").write_text((one + "\n\n") * max(12, sentences // 10), encoding="utf-8")
    items = [{**SUITE["items"][0], "item_number": number} for number in range(1, max(3, sentences // 10))]  # type: ignore[index]
    (folder / "suite.json").write_text(json.dumps({**SUITE, "items": items}), encoding="utf-8")
    trees = str(folder / "trees.conllu")
    prepare = Command("prepare", ["prepare", "--train", trees, "--dev", trees, "--vocabulary", "300"], "corpus")
    code = finished(start(prepare, folder))
    assert code == 0, (folder / "said").read_text(encoding="utf-8")


def start(command: Command, folder: Path, more: Sequence[str] = (), limit: int | None = None) -> int:
    """Begin a command in a folder of its own; gives its process. `limit` is the size that files may have."""
    folder.mkdir(parents=True, exist_ok=True)
    process = os.fork()
    if process:
        return process
    try:
        with (folder / "said").open("ab") as said:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
        sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # type: ignore[misc]  # noqa: SIM115
        sys.stderr = sys.__stderr__ = open(2, "w", closefd=False)  # type: ignore[misc]  # noqa: SIM115
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        sys.argv = ["dtg", *command.arguments, "--out", str(folder / command.out), *more]
        main()
    except SystemExit as end:
        os._exit(end.code if isinstance(end.code, int) else 1)
    except BaseException:
        import traceback

        traceback.print_exc()
    os._exit(99)


def finished(process: int, seconds: float = PATIENCE) -> int | None:
    """The exit code of a process, negative for a signal; None if it does not end in time, and it is killed then."""
    until = monotonic() + seconds
    while monotonic() < until:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        sleep(0.002)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def written(folder: Path, command: Command) -> dict[str, bytes]:
    """What a command has written: tables and results, without what says how and when they were made."""
    out = folder / command.out
    files = sorted(out.rglob("*")) if out.is_dir() else [out]
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        if path.is_file() and not IGNORED.search(path.name) and not LEFT_OUT & set(path.parts)
    }


def complete(command: Command, folder: Path, began: bool) -> str:
    """Let a command end by itself; what went wrong, if anything did."""
    more = command.resume if began and any(folder.glob(f"{command.out}*")) else ()
    code = finished(start(command, folder, more))
    said = (folder / "said").read_text(encoding="utf-8", errors="replace")
    if code != 0 or "Traceback" in said:
        return f"ended with {code}: {said[-300:]!r}"
    left = [path.name for path in folder.iterdir() if "partial" in path.name or path.name.endswith(".lock")]
    return f"left behind: {left}" if left else ""


@dataclass(slots=True)
class Reference:
    """What a command writes when nothing happens to it, and how long it takes."""

    files: dict[str, bytes]
    seconds: float


def reference(command: Command, folder: Path) -> Reference:
    began = monotonic()
    problem = complete(command, folder, began=False)
    assert not problem, f"{command.name}: {problem}"
    files = written(folder, command)
    assert files and all(files.values()), f"{command.name} wrote nothing to compare"
    return Reference(files, monotonic() - began)


Trial = Callable[[Command, Reference, Path, Random], str]


def kill(command: Command, expected: Reference, folder: Path, random: Random) -> str:
    """Kill a command once or twice, resume it, and compare."""
    for round_ in range(random.choice((1, 1, 2))):
        more = command.resume if round_ and any(folder.glob(f"{command.out}*")) else ()
        process = start(command, folder, more)
        sleep(random.random() * expected.seconds * 1.1)
        os.kill(process, random.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)))
        code = finished(process)
        if code not in (*FAILED_BY_ITSELF, -9, -15, -2):
            return f"ended with {code} when killed: {(folder / 'said').read_text(errors='replace')[-300:]!r}"
    return complete(command, folder, began=True) or compared(command, expected, folder)


def fill_disk(command: Command, expected: Reference, folder: Path, random: Random) -> str:
    """Let files grow only so far, look at the answer, make room, resume, and compare."""
    largest = max(map(len, expected.files.values()))
    code = finished(start(command, folder, limit=random.randrange(largest + 1)))
    said = (folder / "said").read_text(encoding="utf-8", errors="replace")
    if code not in (0, 1) or "Traceback" in said:
        return f"ended with {code} on a full disk: {said[-300:]!r}"
    return complete(command, folder, began=True) or compared(command, expected, folder)


def write_twice(command: Command, expected: Reference, folder: Path, random: Random) -> str:
    """Begin the same command twice: one finishes, the other is refused or finds the work done."""
    first = start(command, folder)
    sleep(random.random() * expected.seconds)
    second = start(command, folder, command.resume if random.randrange(2) else ())
    codes = finished(first), finished(second)
    said = (folder / "said").read_text(encoding="utf-8", errors="replace")
    if 0 not in codes or not set(codes) <= {0, 1} or "Traceback" in said:
        return f"two writers ended with {codes}: {said[-300:]!r}"
    return compared(command, expected, folder)


def compared(command: Command, expected: Reference, folder: Path) -> str:
    found = written(folder, command)
    if found == expected.files:
        return ""
    differing = [name for name in {*found, *expected.files} if found.get(name) != expected.files.get(name)]
    return f"other content in {sorted(differing)[:5]}"


TRIALS: dict[str, Trial] = {"kills": kill, "full disks": fill_disk, "two writers": write_twice}


def assail(
    trial: str, of: Sequence[Command], folder: Path, seed: int, tally: Tally, count: int, until: float,
    known: dict[str, Reference],
) -> None:  # fmt: skip
    """Try something that many times, command by command, as long as there is time."""
    began = monotonic()
    for number in range(tally.tried, tally.tried + count):
        if monotonic() > until:
            break
        command = of[number % len(of)]
        if command.name not in known:
            known[command.name] = reference(command, folder / f"reference-{command.name.replace(' ', '-')}")
        place = folder / f"{trial.replace(' ', '-')}-{number}"
        problem = TRIALS[trial](command, known[command.name], place, Random(f"{seed} {trial} {number}"))
        tally.tried += 1
        if problem:
            tally.faults.append(f"{tally.name} --only {number}: {command.name}: {problem}")
        shutil.rmtree(place, ignore_errors=True)
    tally.seconds += monotonic() - began


SMALL_MODEL, SMALL_PARSER = str(SAVED / "model"), str(SAVED / "parser")
