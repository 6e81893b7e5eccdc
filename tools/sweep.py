"""Short trainings that differ in one choice each, one after another, and a table of what each choice is worth.

    python -m tools.sweep list                                        the names below, with their settings
    python -m tools.sweep train --data CORPUS --out DIR [NAME ...]    train what is not trained yet, resume what was interrupted
    python -m tools.sweep time --data CORPUS --out DIR [NAME ...]     how long a step takes, all of them in turn
    python -m tools.sweep evaluate --sg SUITES --out DIR [NAME ...]   SyntaxGym by the fast search, of what is trained
    python -m tools.sweep table --out DIR                             the table of what there is, in Markdown
    python -m tools.sweep keep --out DIR --known KEPT                 copy what the table is made of: a few small files a run

Without names, all of them, in order. All have mini's model and the same sentences in the same order: a sixteenth of mini's
words unless `--words` says otherwise, on one thread. Each run differs in one choice from `base`, the paper's decoder, or from
`modern`. `NAME-seed1` is the same with other initial weights and another order; the table has a run's seeds side by side.
With `--equal-time` (after `time`) a model whose steps take longer reads fewer words, so that all take as long as `modern`:
that is how sizes are compared. `--lock FILE` keeps a file locked during each training, for machines that several people use;
`--minutes` ends a training after that time, to be resumed by the same command. Runs that were kept are neither trained nor
evaluated again with `--known`: a sweep can go on where no model of it is left, and `table --out KEPT` prints the table.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import math
import re
import shutil
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from dtg import configs
from dtg.environment import keep_freed_memory
from dtg.io.atomic import replacing
from dtg.model import DecoderModel, ModelConfig
from dtg.text.corpus import Corpus
from dtg.training.config import TrainingConfig
from dtg.training.log import read_log
from dtg.training.optimizers import make_optimizers
from dtg.training.runtime import fastest_precision
from dtg.training.sampler import Sampler

CONFIG = "mini-quarter"
WORDS = 253_484  # a sixteenth of mini's
TIMES = "times.json"
EVALUATED = "sg"  # the folder of SyntaxGym's results, beside the runs
LOG, SCORES = "log.jsonl", ("results.json", "verdicts.csv")  # what is kept of a run, and of its evaluation
CIRCUITS = ("Agreement", "Garden-path", "Long-distance")
STEPS, ROUNDS = 2, 5  # batches of each model in turn, and how often; the first round does not count

MODERN: dict[str, Any] = {
    "model.norm": "pre",
    "model.norm_kind": "rms",
    "model.activation": "relu_squared",
    "model.query_key_norm": True,
    "model.zero_outputs": True,
    "training.optimizer": "muon",
    "training.decay": "trapezoid",
}
HYBRID: dict[str, Any] = {"model.family": "dtg-hybrid", "model.view_heads": [2, 2]}
DECODERS: dict[str, dict[str, Any]] = {  # one choice each, beside the paper's decoder
    "base": {},
    "modern": MODERN,
    "muon": {"training.optimizer": "muon"},
    "pre-rms": {"model.norm": "pre", "model.norm_kind": "rms"},
    "squared": {"model.activation": "relu_squared"},
    "query-key-norm": {"model.query_key_norm": True},
    "zero": {"model.zero_outputs": True},
    "trapezoid": {"training.decay": "trapezoid"},
    "corpus-embeddings": {"training.embeddings": "corpus"},
    "swiglu": {"model.activation": "swiglu", "model.feedforward": 680},  # as many weights as 1,024 without gates
    "pre": {"model.norm": "pre"},
    "rms": {"model.norm_kind": "rms"},
    "gates": {"model.head_gates": True},
    "dropout": {"model.dropout": 0.1},
    "muon-2e-3": {"training.optimizer": "muon", "training.peak_rate": 2e-3},
    "muon-4e-3": {"training.optimizer": "muon", "training.peak_rate": 4e-3},
    "pre-rms-2e-3": {"model.norm": "pre", "model.norm_kind": "rms", "training.peak_rate": 2e-3},
}
FURTHER: dict[str, dict[str, Any]] = {  # one choice each, beside the modern decoder
    "modern-2e-3": {"training.peak_rate": 2e-3},
    "modern-4e-3": {"training.peak_rate": 4e-3},
    "modern-embeddings": {"training.embeddings": "corpus"},
    "modern-rates": {"training.peak_rate": 4e-3, "training.matrix_rate": 0.25},  # four times the rate of embeddings
    "modern-half": {"training.decay_share": 0.5},
    "modern-16": {"training.batch_sentences": 16},
    "modern-adamw": {"training.optimizer": "adamw"},
    "modern-cosine": {"training.decay": "cosine"},
    "modern-relu": {"model.activation": "relu"},
    "modern-no-qk": {"model.query_key_norm": False},
    "modern-post": {"model.norm": "post"},
    "modern-layer": {"model.norm_kind": "layer"},
    "modern-no-zero": {"model.zero_outputs": False},
    "hybrid-2-2": HYBRID,
    "hybrid-3-1": {**HYBRID, "model.view_heads": [3, 1]},
    "hybrid-1-3": {**HYBRID, "model.view_heads": [1, 3]},
    "hybrid-rows": {**HYBRID, "model.memory": "rows"},
    "hybrid-compose": {**HYBRID, "model.memory_on_compose": "all"},
    "hybrid-upper": {**HYBRID, "model.memory_layers": "upper"},
    "hybrid-lower": {**HYBRID, "model.memory_layers": "lower"},
    "hybrid-dropout": {**HYBRID, "model.view_dropout": 0.5, "model.view_dropout_end": 0.0},
    "hybrid-gates": {**HYBRID, "model.head_gates": True},
    "size-192x6": {"model.width": 192, "model.attention_heads": 3, "model.feedforward": 768},
    "size-320x6": {"model.width": 320, "model.attention_heads": 5, "model.feedforward": 1280},
    "size-256x9": {"model.layers": 9},
    "size-384x8": {"model.layers": 8, "model.width": 384, "model.attention_heads": 6, "model.feedforward": 1536},
    "txl-trans": {"model.family": "txl-trans"},
    "txl-tokens": {"model.family": "txl-tokens"},
}
RUNS = {**DECODERS, **{name: {**MODERN, **settings} for name, settings in FURTHER.items()}}


SEED = re.compile(r"-seed([1-9][0-9]*)$")  # at the end of a name; without it, the seed is 0


def without_seed(name: str) -> str:
    """The name of a run whatever its seed."""
    return SEED.sub("", name)


def settings_of(name: str) -> dict[str, Any]:
    """What a run changes, its seed included."""
    seed = SEED.search(name)
    return {**RUNS[without_seed(name)], **({"training.seed": int(seed[1])} if seed else {})}


def compared_with(name: str) -> str:
    """The run from which this one differs in one choice."""
    return "modern" if name in FURTHER else "base"


def tables(settings: Mapping[str, Any], words: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables `[model]` and `[training]` of a run."""
    base = tomllib.loads(configs.find(CONFIG).read_text(encoding="utf-8"))
    found = {"model": dict(base["model"]), "training": {**base["training"], "words": words}}
    for name, value in settings.items():
        table, key = name.split(".")
        found[table][key] = value
    return found["model"], found["training"]


def as_toml(value: Any) -> str:
    """A value as `--set` takes it."""
    return value if isinstance(value, str) else json.dumps(value)


def command(name: str, data: Path, out: Path, words: int, minutes: float | None) -> list[str]:
    """What trains a run, or resumes it."""
    settings = {"training.words": words, "training.dev_every": 100_000, **settings_of(name)}  # dev at the end only
    found = [sys.executable, "-m", "dtg", "train", str(configs.find(CONFIG))]
    for setting, value in settings.items():
        found += ["--set", f"{setting}={as_toml(value)}"]
    found += ["--data", str(data), "--out", str(out / name), "--threads", "1"]
    if minutes is not None:
        found += ["--max-minutes", str(minutes)]
    return [*found, "--resume"] if (out / name).is_dir() else found


@contextmanager
def locked(path: Path | None) -> Iterator[None]:
    """Hold a lock that others wait for, if there is one."""
    if path is None:
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def last_dev(folder: Path) -> dict[str, Any] | None:
    """What the log of a finished run says of dev at its end; None while it is not finished."""
    log = folder / LOG
    if not log.is_file():
        return None
    first, *records = read_log(log)
    scores = [record for record in records if record["kind"] == "dev"]
    return scores[-1] if scores and scores[-1]["step"] == first["steps"] else None


def words_in_equal_time(names: Sequence[str], out: Path, words: int) -> dict[str, int]:
    """How many words each run reads in the time that `modern` takes for all."""
    path = out / TIMES
    times = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if missing := [name for name in dict.fromkeys(("modern", *names)) if name not in times]:
        raise SystemExit(
            f"the time of a step is not known of {', '.join(missing)}; run `time` with modern and these first."
        )
    return {name: int(words * times["modern"]["seconds"] / times[name]["seconds"]) for name in names}


def train(
    names: Sequence[str],
    data: Path,
    out: Path,
    budget: Mapping[str, int],
    minutes: float | None,
    lock: Path | None,
    known: Path | None,
) -> None:
    """Train what is not finished, each on as many words as its budget says."""
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        if last_dev(out / name) is not None or (known is not None and last_dev(known / name) is not None):
            continue
        words = budget[name]
        with locked(lock):
            print(f"{time.strftime('%H:%M')} {name}", flush=True)
            done = subprocess.run(command(name, data, out, words, minutes), check=False)
        if done.returncode:
            raise SystemExit(f"{name} ended with code {done.returncode}; the same command resumes it.")


def evaluate(names: Sequence[str], suites: Path, out: Path, lock: Path | None) -> None:
    """SyntaxGym by the fast search, of every run that is finished and has not been evaluated; what was interrupted resumes."""
    for name in names:
        results = out / EVALUATED / name
        if last_dev(out / name) is None or (results / "results.json").is_file():
            continue
        results.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "dtg", "evaluate", "sg", str(suites), "--model", str(out / name / "best")]
        command += ["--name", name, "--accuracy", "fast", "--out", str(results)]
        with locked(lock):
            print(f"{time.strftime('%H:%M')} {name}", flush=True)
            done = subprocess.run(command, check=False)
        if done.returncode:
            raise SystemExit(f"{name} ended with code {done.returncode}; the same command resumes it.")


def circuits(out: Path, name: str) -> list[float]:
    """The share of items that are right, in percent, of some circuits and of all suites; none if it was not evaluated."""
    path = out / EVALUATED / name / "results.json"
    if not path.is_file():
        return []
    scores = json.loads(path.read_text(encoding="utf-8"))["scores"]["first"]
    shares = [scores["circuits"][circuit]["accuracy"] for circuit in CIRCUITS]
    means = {(one["suites"], one["mean"]): one["accuracy"] for one in scores["averages"]}
    return [*shares, means["33 suites", "suite mean"]]


def keep(names: Sequence[str], out: Path, known: Path) -> None:
    """Copy the logs and scores of finished runs, which are small, to where they last."""
    for name in names:
        if last_dev(out / name) is None:
            continue
        wanted = [Path(name, LOG)]
        if (out / EVALUATED / name / SCORES[0]).is_file():
            wanted += [Path(EVALUATED, name, file) for file in SCORES]
        for file in wanted:
            (known / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(out / file, known / file)
        print(f"{name}: {len(wanted)} files")


def measure(names: Sequence[str], data: Path, out: Path, words: int) -> None:
    """Processor seconds of a step on one thread, all models in turn on the same batches; the least of several rounds.

    Together with the turns, that keeps what else the machine does out of the comparison.
    """
    torch.set_num_threads(1)
    keep_freed_memory()
    corpus = Corpus.open(data)
    split = corpus.splits["train"]
    made = {}
    for name in names:
        model_table, training_table = tables(settings_of(name), words)
        config = TrainingConfig.from_dict(training_table)
        model = DecoderModel.create(ModelConfig.for_corpus(model_table, corpus), corpus.tokenizer).train()
        made[name] = model, [one.optimizer for one in make_optimizers(model, config)]
    config = TrainingConfig.from_dict(tables({}, words)[1])
    steps = Sampler(split.piece_counts, split.word_counts, config, 1).steps_from(0)
    batches = [split.batch(next(steps).batches[0], "cpu") for _ in range(STEPS)]
    best = dict.fromkeys(names, math.inf)
    is_mixed = fastest_precision(torch.device("cpu")) == "bf16"
    for turn in range(ROUNDS):
        for name, (model, optimizers) in made.items():
            began = time.process_time()
            for batch in batches:
                with torch.autocast("cpu", torch.bfloat16, enabled=is_mixed):
                    loss = model.loss(batch)
                (loss.total / loss.predicted).backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), config.gradient_norm)
                for optimizer in optimizers:
                    optimizer.step()
                    optimizer.zero_grad()
            if turn:
                best[name] = min(best[name], (time.process_time() - began) / STEPS)
    path = out / TIMES
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for name, seconds in best.items():
        print(f"{name:<18}{seconds:8.3f} s a step")
        known[name] = {"seconds": seconds}
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def table(out: Path) -> str:
    """What there is, in the order of the list, each beside what it is compared with; a run's seeds side by side."""
    path = out / TIMES
    times = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    found: dict[str, dict[str, dict[str, Any]]] = {}  # by run, then by seed
    for name in RUNS:
        for folder in sorted([out / name, *out.glob(f"{name}-seed*")]):
            if without_seed(folder.name) == name and (score := last_dev(folder)) is not None:
                found.setdefault(name, {})[folder.name] = score
    if not found:
        return f"Nothing is trained in {out} yet.\n"
    losses = {name: [math.log(one["word_perplexity"]) for one in seeds.values()] for name, seeds in found.items()}
    loss = {name: statistics.mean(values) for name, values in losses.items()}
    shares = {name: [some for seed in seeds if (some := circuits(out, seed))] for name, seeds in found.items()}
    heads = ["run", "differs in", "dev, nats per word", "difference", "time of a step"]
    has_circuits = any(shares.values())
    heads += [*CIRCUITS, "SyntaxGym"] if has_circuits else []
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name, values in losses.items():
        base = compared_with(name)
        changed = FURTHER.get(name, RUNS[name])
        settings = ", ".join(f"{key.split('.')[1]} = {as_toml(setting)}" for key, setting in changed.items())
        versus = f"{loss[name] - loss[base]:+.3f} ({base})" if base in loss and name != base else ""
        relative = f"{times[name]['seconds'] / times[base]['seconds']:.2f}" if {name, base} <= times.keys() else ""
        cells = [name, settings, side_by_side(values, 3), versus, relative]
        columns = zip(*shares[name], strict=True) if shares[name] else [()] * (1 + len(CIRCUITS))
        cells += [side_by_side(column, 1) for column in columns] if has_circuits else []
        lines.append("| " + " | ".join(cells) + " |")
    read = {name: score["words"] for seeds in found.values() for name, score in seeds.items()}
    least = min(read.values())
    if max(read.values()) < 1.01 * least:  # the last batch of another seed has other sentences
        after = f"After {least:,} words."
    else:
        after = "After " + ", ".join(f"{words:,} words ({name})" for name, words in read.items()) + "."
    return (
        "\n".join([*lines, "", f"{after} Differences and times are from what a run is compared with: base, or modern."])
        + "\n"
    )


def side_by_side(values: Sequence[float], digits: int) -> str:
    """The mean, and behind it the seeds if there are several."""
    if len(values) < 2:
        return "".join(f"{value:.{digits}f}" for value in values)
    return f"{statistics.mean(values):.{digits}f} ({', '.join(f'{value:.{digits}f}' for value in values)})"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["list", "train", "time", "evaluate", "table", "keep"])
    parser.add_argument("names", nargs="*", help="of runs; all of them if none is given")
    parser.add_argument("--data", type=Path, help="a prepared corpus")
    parser.add_argument("--out", type=Path, help="where the runs are")
    parser.add_argument("--known", type=Path, help="where runs are kept, of this machine or of others")
    parser.add_argument("--sg", type=Path, help="the folder of SyntaxGym's suites")
    parser.add_argument("--words", type=int, default=WORDS, help="of each training")
    parser.add_argument("--equal-time", action="store_true", help="fewer words for models whose steps take longer")
    parser.add_argument("--minutes", type=float, help="after which a training is suspended")
    parser.add_argument("--lock", type=Path, help="a file to be locked during each training")
    given = parser.parse_intermixed_args(arguments)
    if unknown := [name for name in given.names if without_seed(name) not in RUNS]:
        parser.error(f"there is no run {', '.join(unknown)}; there are {', '.join(RUNS)}")
    needed = {
        "list": (),
        "train": ("out", "data"),
        "time": ("out", "data"),
        "evaluate": ("out", "sg"),
        "table": ("out",),
        "keep": ("out", "known"),
    }
    if missing := [f"--{name}" for name in needed[given.what] if getattr(given, name) is None]:
        parser.error(f"{given.what} needs {' and '.join(missing)}")
    names = given.names or list(RUNS)
    if given.what == "list":
        for name in names:
            print(f"{name:<18}" + " ".join(f"{key}={as_toml(value)}" for key, value in settings_of(name).items()))
    elif given.what == "train":
        budget = dict.fromkeys(names, given.words)
        if given.equal_time:
            budget = words_in_equal_time(names, given.out, given.words)
        train(names, given.data, given.out, budget, given.minutes, given.lock, given.known)
    elif given.what == "evaluate":
        evaluate(names, given.sg, given.out, given.lock)
    elif given.what == "time":
        measure(names, given.data, given.out, given.words)
    elif given.what == "keep":
        keep(given.names or sorted(path.parent.name for path in given.out.glob(f"*/{LOG}")), given.out, given.known)
    else:
        print(table(given.out), end="")


if __name__ == "__main__":
    main()
