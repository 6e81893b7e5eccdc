"""Do models learn the same in bfloat16 as in float32? `python -m benchmarks.precision --data CORPUS --out FOLDER`.

One configuration is trained in both precisions with several seeds, one after another; then dev losses stand side by side. A
run that is interrupted is resumed by the same command. By default a quarter of mini's budget (a million words) with three
seeds, which takes some hours of one core; `--minutes` suspends after that time, `--table` shows what there is.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from dtg.training.log import read_log

PRECISIONS = ("no", "bf16")


class Run(NamedTuple):
    """One training: how far it is, its losses on dev (nats per prediction), and its time."""

    losses: dict[int, float]  # by step
    is_finished: bool
    seconds: float


def command(options: argparse.Namespace, precision: str, seed: int, minutes: float | None) -> list[str]:
    """What trains a run, or resumes it."""
    out = options.out / f"{precision}-{seed}"
    settings = (f"training.words={options.words}", f"training.seed={seed}", f"training.dev_every={options.dev_every}")
    found = [sys.executable, "-m", "dtg", "train", options.config]
    for setting in settings:
        found += ["--set", setting]
    found += ["--data", str(options.data), "--out", str(out), "--threads", str(options.threads)]
    found += ["--precision", precision, "--resume"]
    return found if minutes is None else [*found, "--max-minutes", f"{minutes:.2f}"]


def read_run(out: Path) -> Run | None:
    """What the log of a run says; None if it has not begun."""
    path = out / "log.jsonl"
    if not path.is_file():
        return None
    records = read_log(path)
    dev = [record for record in records if record["kind"] == "dev"]
    done = max((record["step"] for record in records if record["kind"] != "run"), default=0)
    seconds = max((record["time"]["seconds"] for record in records if "time" in record), default=0.0)
    return Run({record["step"]: record["loss"] for record in dev}, done == records[0]["steps"], seconds)


def table(options: argparse.Namespace) -> None:
    """Losses by step: the mean and the range over seeds, and how far the precisions are apart."""
    runs = {
        (precision, seed): read_run(options.out / f"{precision}-{seed}")
        for precision in PRECISIONS
        for seed in range(options.seeds)
    }
    for (precision, seed), run in runs.items():
        state = "not begun" if run is None else ("finished" if run.is_finished else "unfinished")
        print(f"{precision:<5} seed {seed}: {state}" + ("" if run is None else f", {run.seconds:,.0f} s"))
    found = [run for run in runs.values() if run is not None]
    steps = sorted(set.intersection(*(set(run.losses) for run in found))) if len(found) == len(runs) else []
    if not steps:
        print("dev losses are compared once every run has some.")
        return
    print(
        f"\n{'step':>6}{'float32':>10}{'range':>9}{'bfloat16':>10}{'range':>9}{'difference':>12}{'by seed, mean':>15}"
    )
    for step in steps:
        by = {p: [run.losses[step] for (name, _), run in runs.items() if name == p and run] for p in PRECISIONS}
        full, half = by["no"], by["bf16"]
        apart = statistics.mean(abs(b - a) for a, b in zip(full, half, strict=True))
        print(
            f"{step:>6}{statistics.mean(full):>10.4f}{max(full) - min(full):>9.4f}{statistics.mean(half):>10.4f}"
            f"{max(half) - min(half):>9.4f}{statistics.mean(half) - statistics.mean(full):>+12.4f}{apart:>15.4f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder that dtg prepare has written")
    parser.add_argument("--out", type=Path, required=True, help="where the runs are")
    parser.add_argument("--config", default="mini-quarter", help="one that says how many words, not epochs")
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--dev-every", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="suspend after this time")
    parser.add_argument("--table", action="store_true", help="only show what there is")
    options = parser.parse_args()
    end = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    for seed in range(0 if options.table else options.seeds):
        for precision in PRECISIONS:
            run = read_run(options.out / f"{precision}-{seed}")
            left = None if end is None else (end - time.monotonic()) / 60
            if (run is None or not run.is_finished) and (left is None or left > 0):
                subprocess.run(command(options, precision, seed, left), check=True)
    table(options)


if __name__ == "__main__":
    main()
