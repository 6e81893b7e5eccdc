"""Commands that several processes share: one output, the same bytes as of one process, whatever becomes of the processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from dtg.cli import loading
from dtg.cli.trees import TreeSelection
from dtg.io import rendezvous
from dtg.io.locks import lock_file
from dtg.search.options import BeamOptions
from dtg.tables import filling
from dtg.tables.sharing.parts import Part, PartFolder
from dtg.tables.sharing.share import GroupQueue, Share
from dtg.tables.sidecar import read_sidecar, sidecar_path
from dtg.trees import write_conllu
from tests.cli.made import folder_with_models
from tests.cli.running import CAN_FORK, dtg, forked, together
from tests.parser.parsers import phrase_corpus, small_span_parser, some_phrases, some_trees

WORDS = "the dog saw mice and a cat ran".split()
SCRIPT = Path(__file__).parent / "running_killed.py"
needs_fork = pytest.mark.skipif(
    not CAN_FORK, reason="a copy of a process with several threads may hang: OMP_NUM_THREADS=1"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models and parsers, text of 150 lines, trees, proposals, a table."""
    folder = folder_with_models(tmp_path_factory)
    small_span_parser(phrase_corpus(some_phrases(40))).save(folder / "phrases")
    lines = [" ".join(WORDS[(i + j) % 8] for j in range(1 + i % 5)) for i in range(150)]
    (folder / "text.txt").write_text("".join(f"{line}\n" + "\n" * (i % 30 == 7) for i, line in enumerate(lines)))
    write_conllu(some_trees(300), folder / "trees.conllu")
    (folder / "table.csv").write_text("item,sentence\n" + "".join(f"{i},{line}\n" for i, line in enumerate(lines)))
    dtg(
        "parse",
        folder / "text.txt",
        "--tokenized",
        "--parser",
        folder / "parser",
        "--nbest",
        "3",
        *out(folder / "n.conllu"),
    )
    return folder


def out(path: Path) -> list[str | Path]:
    return ["--out", path]


def surprisal(made: Path, path: Path, *more: str | Path) -> list[str | Path]:
    shared: list[str | Path] = ["--model", made / "model", "--beam", "5", "--tokenized"]
    return ["surprisal", made / "text.txt", *shared, *out(path), *more]


COMMANDS: dict[str, tuple[list[str], str]] = {
    "csv": (["surprisal", "text.txt", "--model", "model", "--beam", "5", "--tokenized"], "a.csv"),
    "tsv, two models": (["surprisal", "text.txt", "--model", "words", "--model", "model", "--beam", "3"], "a.tsv"),
    "jsonl, a column": (["surprisal", "table.csv", "--column", "sentence", "--model", "words"], "a.jsonl"),
    "parquet": (["surprisal", "text.txt", "--model", "model", "--beam", "5", "--limit", "70"], "a.parquet"),
    "score --text": (["score", "--text", "text.txt", "--model", "model", "--beam", "5"], "a.csv"),
    "score --conllu": (["score", "--conllu", "trees.conllu", "--model", "model"], "a.csv"),
    "parse": (["parse", "text.txt", "--parser", "parser", "--tokenized"], "a.conllu"),
    "parse, drawn": (
        ["parse", "trees.conllu", "--parser", "parser", "--sample-trees", "3", "--limit", "40"],
        "a.conllu",
    ),
    "parse, brackets": (["parse", "text.txt", "--parser", "phrases", "--max-words", "3"], "a.ptb"),
    "parse --by model": (["parse", "text.txt", "--by", "model", "--model", "model", "--limit", "9"], "a.conllu"),
    "rerank": (["rerank", "text.txt", "--model", "model", "--parser", "parser", "--trees", "4"], "a.conllu"),
    "rerank, from a file": (
        ["rerank", "text.txt", "--model", "model", "--parser", "n.conllu", "--tokenized", "--limit", "60"],
        "a.conllu",
    ),
}


def arguments(made: Path, words: list[str]) -> list[str | Path]:
    """With the names of what is made as paths."""
    return [
        made / word if (made / word).exists() and before != "--by" else word for before, word in pairwise(["", *words])
    ]


def small_groups(_rank: int = 0) -> None:
    """So that few sentences are many groups."""
    TreeSelection.group = 16  # type: ignore[assignment, method-assign]
    BeamOptions.sentences_together = 16  # type: ignore[assignment, method-assign]


def alone(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """One process, with the same groups."""
    done = forked([str(word) for word in words], small_groups)
    assert done.returncode == 0, done.stderr
    return done


def shared(*words: str | Path, count: int = 2, before: Callable[[int], None] | None = None) -> str:
    """What the first of several processes prints; the others print nothing, and all end well."""

    def prepare(rank: int) -> None:
        small_groups()
        if before is not None:
            before(rank)

    done = together(*words, count=count, before=prepare)
    assert [one.returncode for one in done] == [0] * count, "".join(one.stderr for one in done)
    assert [one.stdout + one.stderr for one in done[1:]] == [""] * (count - 1)
    return done[0].stderr


def record_parts(folder: Path, first: int = 1) -> Callable[[int], None]:
    """Let each process write down which groups it has stored; the first begins when the others have stored some."""
    folder.mkdir()

    def before(rank: int) -> None:
        small_groups()
        save, begin = PartFolder.save, GroupQueue.__init__

        def beginning(self: GroupQueue, share: Share) -> None:
            end = time.monotonic() + 100
            while rank == 0 and len(list(folder.iterdir())) < first:
                assert time.monotonic() < end, "the others have computed something"
                time.sleep(0.01)
            begin(self, share)

        def saving(self: PartFolder, part: Part) -> None:
            save(self, part)
            (folder / f"{rank} {part.group}").touch()

        PartFolder.save = saving  # type: ignore[method-assign]
        GroupQueue.__init__ = beginning  # type: ignore[method-assign]

    return before


@needs_fork
@pytest.mark.parametrize("name", COMMANDS)
def test_two_processes_write_what_one_writes(made: Path, tmp_path: Path, name: str) -> None:
    """The table or the trees, and what is said of them; both processes have worked, and nothing else is left."""
    words, file = COMMANDS[name]
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    told = alone(*arguments(made, words), *out(tmp_path / "one" / file)).stderr
    parts = tmp_path / "parts"
    also_told = shared(*arguments(made, words), *out(tmp_path / "two" / file), before=record_parts(parts))
    assert (tmp_path / "two" / file).read_bytes() == (tmp_path / "one" / file).read_bytes()
    assert read_sidecar(sidecar_path(tmp_path / "two" / file)) == read_sidecar(sidecar_path(tmp_path / "one" / file))
    assert also_told.replace("/two/", "/one/") == told
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == [file, f"{file}.meta.json"]
    assert any(path.name.startswith("1 ") for path in parts.iterdir())


@needs_fork
def test_a_corpus_is_prepared_together(made: Path, tmp_path: Path) -> None:
    text: list[str | Path] = ["--text", made / "text.txt", "--tokenized", "--parser", made / "parser"]
    command = ["prepare", *text, "--vocabulary", "290"]
    done = alone(*command, *out(tmp_path / "one"))
    again = shared(*command, *out(tmp_path / "two"), count=3, before=record_parts(tmp_path / "parts"))
    assert again.replace("two", "one") == done.stderr
    for folder in (".parsed", ""):
        one, two = tmp_path / f"one{folder}", tmp_path / f"two{folder}"
        files = sorted(path.relative_to(one) for path in one.rglob("*"))
        assert files == sorted(path.relative_to(two) for path in two.rglob("*")) and files
        assert all((one / file).read_bytes() == (two / file).read_bytes() for file in files if (one / file).is_file())
    assert {path.name[0] for path in (tmp_path / "parts").iterdir()} & {"1", "2"}
    assert "nothing to do" in shared(*command, *out(tmp_path / "two"))  # the others are told that it is there


@needs_fork
def test_what_is_said_at_the_end_is_of_all_processes(made: Path, tmp_path: Path) -> None:
    """A long sentence that a helper meets is warned of, and words with little probability are added up."""
    long = tmp_path / "long.txt"
    long.write_text("the dog saw mice\n" * 40 + "the dog " * 60 + "\n" + "the cat\n" * 40 + "mice " * 110 + "\n")
    command: list[str | Path] = ["surprisal", long, "--model", made / "model", "--beam", "1", "--tokenized"]
    told = alone(*command, *out(tmp_path / "one.csv")).stderr
    assert "line 41 has 120 words" in told and "2 sentences have more than 100 words" in told and "kept less" in told
    assert "81 has" not in told
    also_told = shared(*command, *out(tmp_path / "two.csv")).replace("two.csv", "one.csv")
    assert sorted(also_told.splitlines()[1:]) == sorted(told.splitlines()[1:])
    assert "words, and is taken for one sentence" in also_told


@needs_fork
def test_a_table_of_two_processes_is_resumed_by_one_and_by_three(made: Path, tmp_path: Path) -> None:
    """The first process stops early: what the helpers had computed meanwhile is not computed again."""
    alone(*surprisal(made, tmp_path / "whole.csv"))

    def stop(rank: int) -> None:
        waiting(rank)
        if rank == 0:
            is_ready = Share.is_ready

            def ready(self: Share, group: int) -> bool:
                if group == 1:
                    raise KeyboardInterrupt
                return is_ready(self, group)

            Share.is_ready = ready  # type: ignore[method-assign]

    for count in (1, 3):
        path, waiting = tmp_path / f"{count}.csv", record_parts(tmp_path / f"stored {count}", first=3)
        done = together(*surprisal(made, path), before=stop)
        assert [one.returncode for one in done] == [130, 1] and not done[1].stderr, done
        assert (
            f"{path} is not finished. The same command with --resume resumes it.\ndtg: interrupted.\n" in done[0].stderr
        )
        assert read_sidecar(sidecar_path(path)).progress.sentences
        stored = sorted(int(part.stem) for part in (tmp_path / f"{count}.csv.parts").iterdir())
        assert stored[:2] == [1, 2]
        refused = dtg(*surprisal(made, path, "--resume", "--end"), code=1).stderr
        assert "end is True, and was False" in refused
        computed = tmp_path / f"computed {count}"
        if count == 1:
            alone(*surprisal(made, path, "--resume"))
        else:
            shared(*surprisal(made, path, "--resume"), count=count, before=record_parts(computed))
            assert not {int(file.name.split()[1]) for file in computed.iterdir()} & set(stored)
        assert path.read_bytes() == (tmp_path / "whole.csv").read_bytes()
        assert not (tmp_path / f"{count}.csv.parts").exists()


@needs_fork
def test_the_processes_of_a_run_are_one_writer(made: Path, tmp_path: Path) -> None:
    with lock_file(tmp_path / "a.csv"):
        done = together(*surprisal(made, tmp_path / "a.csv"))
    assert [one.returncode for one in done] == [1, 1]
    assert "another process is writing it" in done[0].stderr and not done[1].stderr
    shared(*surprisal(made, tmp_path / "a.csv"))
    before = (tmp_path / "a.csv").read_bytes()
    told = [one.stderr for one in together(*surprisal(made, tmp_path / "a.csv"))]
    assert "exists. Pass --resume" in told[0] and not told[1]
    assert "was finished before" in shared(*surprisal(made, tmp_path / "a.csv", "--resume"))
    shared(*surprisal(made, tmp_path / "a.csv", "--overwrite"))
    assert (tmp_path / "a.csv").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.csv.meta.json"]


@needs_fork
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["surprisal", "-", "--out", "x.csv"], "several processes cannot read one standard input: name a file"),
        (["surprisal", "the dog"], "2 processes share the work, and write one file: name it with --out FILE."),
        (["parse", "the dog", "--draw"], "2 processes share the work, and write one file: name it with --out FILE."),
        (["parse", "missing.txt", "--out", "x.conllu"], "cannot read missing.txt: there is no such file"),
        (["score", "--text", "text.txt", "--model", "gone", "--out", "x.csv"], "gone is not a model"),
    ],
)
def test_a_mistake_is_told_once(made: Path, tmp_path: Path, words: list[str], said: str) -> None:
    given = [tmp_path / word if str(word).startswith("x.") else word for word in arguments(made, words)]
    done = together(*given)
    told = "".join(one.stderr for one in done)
    assert [one.returncode for one in done] == [1, 1] and told.count(said) == 1 and told.count("dtg: ") == 1
    assert not list(tmp_path.iterdir())


@needs_fork
def test_a_damaged_line_ends_all_and_is_named_once(made: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"the dog\n" * 90 + b"\xff\xfe\n" + b"the cat\n" * 90)
    command = ["surprisal", bad, "--tokenized", "--model", made / "model", "--beam", "5", *out(tmp_path / "a.csv")]
    done = together(*command, before=small_groups)
    told = "".join(one.stderr for one in done)
    assert [one.returncode for one in done] == [1, 1] and told.count("bad.txt, line 91") == 1
    assert not list(tmp_path.glob(".*"))


@needs_fork
def test_processes_that_would_compute_otherwise_are_refused(made: Path, tmp_path: Path) -> None:
    """A helper with another version of dtg, or that reads another file under the same name."""

    def other_version(rank: int) -> None:
        small_groups()
        if rank == 1:
            loading.__version__ = "0.0.1"  # type: ignore[attr-defined]

    done = together(*surprisal(made, tmp_path / "a.csv"), before=other_version)
    assert [one.returncode for one in done] == [1, 1] and not done[0].stderr.startswith("dtg: process")
    assert "process 1 of 2 would compute otherwise than the first.\n     dtg is '0.0.1', and was" in done[1].stderr

    wait = record_parts(tmp_path / "parts")

    def other_input(rank: int) -> None:
        wait(rank)
        if rank == 1:
            add = filling.add
            filling.add = lambda digest, item: (digest.update(b"x"), add(digest, item))[1]  # type: ignore

    done = together(*surprisal(made, tmp_path / "b.csv"), before=other_input)
    assert [one.returncode for one in done] == [1, 1], done
    assert "have read different sentences" in done[0].stderr and not done[1].stderr


@needs_fork
def test_a_process_that_is_not_heard_of_ends_the_others(made: Path, tmp_path: Path) -> None:
    """As after a power cut: nobody says that it has ended. What was computed is there."""

    def die(rank: int) -> None:
        small_groups()
        rendezvous.BETWEEN_SIGNS, rendezvous.SILENCE = 0.1, 4.0
        if rank == 1:
            PartFolder.save = lambda self, part: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]

    done = together(*surprisal(made, tmp_path / "a.csv"), before=die)
    assert [one.returncode for one in done] == [1, -signal.SIGKILL], done
    assert "a.csv is not finished. The same command with --resume resumes it." in done[0].stderr
    assert "process 1 of the 2 that share the work (on " in done[0].stderr and "it was killed" in done[0].stderr
    alone(*surprisal(made, tmp_path / "a.csv", "--resume"))
    alone(*surprisal(made, tmp_path / "whole.csv"))
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def torchrun(*words: str | Path, script: Path | None = None, victim: int | None = None) -> str:
    """What torchrun and its two processes print, as a user starts them; they must end well unless there is a victim."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    target = ["-m", "dtg"] if script is None else [str(script)]
    done = subprocess.run(
        [*launcher, *target, *map(str, words)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "VICTIM": str(victim)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode == 0) == (victim is None), done.stderr
    return done.stderr


@pytest.mark.slow
def test_torchrun_shares_the_work(made: Path, tmp_path: Path) -> None:
    """Groups of the size that they have for users; other commands: above, in processes that torchrun has not started."""
    words, file = COMMANDS["parse"]
    (tmp_path / "text.txt").write_text((made / "text.txt").read_text() * 15)  # several groups of 1,024
    words = [str(tmp_path / word) if word == "text.txt" else word for word in words]
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    told = dtg(*arguments(made, words), *out(tmp_path / "one" / file)).stderr
    also_told = torchrun(*arguments(made, words), *out(tmp_path / "two" / file))
    assert told.replace("/one/", "/two/") in also_told and also_told.count("dtg: ") == told.count("dtg: ")
    assert content(tmp_path / "one") == content(tmp_path / "two")


def content(folder: Path) -> dict[str, bytes]:
    """Every file in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_two_machines_meet(made: Path, tmp_path: Path) -> None:
    """Two launches of torchrun, as on two machines, one of which is the rendezvous."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"localhost:{free.getsockname()[1]}"
    rendezvous = ["--rdzv-backend", "c10d", "--rdzv-id", "job", "--rdzv-endpoint", place]
    command = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1", *rendezvous]
    words = [str(SCRIPT), *map(str, surprisal(made, tmp_path / "two.csv"))]
    machines = [
        subprocess.Popen(
            [*command, *words],
            env={**os.environ, "OMP_NUM_THREADS": "1", "VICTIM": "none"},
            cwd=Path(__file__).parents[2],
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    told = [machine.communicate(timeout=300)[1] for machine in machines]
    assert [machine.returncode for machine in machines] == [0, 0], told
    assert "".join(told).count("two.csv has 450 rows for 150 sentences") == 1
    alone(*surprisal(made, tmp_path / "one.csv"))
    assert (tmp_path / "two.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_process_is_killed_under_torchrun(made: Path, tmp_path: Path, victim: int) -> None:
    """kill -9 in mid-run ends all, says how to resume, and loses nothing; one process resumes it, or two do."""
    path = tmp_path / "a.csv"
    told = torchrun(*surprisal(made, path), script=SCRIPT, victim=victim)
    assert told.count(f"dtg: {path} is not finished. The same command with --resume resumes it.") == 1
    assert "SIGKILL" in told and "this is a fault" not in told
    before = read_sidecar(sidecar_path(path)).progress
    parts = len(list((tmp_path / "a.csv.parts").glob("*.part")))
    assert before.sentences < 150 and (before.sentences or parts)
    resume = alone if victim == 0 else shared
    resume(*surprisal(made, path, "--resume"))
    alone(*surprisal(made, tmp_path / "whole.csv"))
    assert path.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not (tmp_path / "a.csv.parts").exists()
