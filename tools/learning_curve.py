"""SyntaxGym and BLiMP of the models that a training kept along the way (`training.save_every`), as a table and a picture.

    python -m tools.learning_curve evaluate RUN... --sg SUITES --blimp PARADIGMS     what is not evaluated yet; resumes
    python -m tools.learning_curve table RUN...                                      in Markdown
    python -m tools.learning_curve draw RUN... --out curve.svg

Results are in RUN/evaluated. `--limit` is the number of BLiMP's pairs of each paradigm, `--accuracy` that of the search.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtg.io.atomic import replacing
from dtg.training.checkpoint import step_of
from dtg.training.log import read_log

KINDS = ("sg", "blimp")


@dataclass(frozen=True, slots=True)
class Point:
    """How good a model was after some words; None where that is not known."""

    step: int
    words: int
    dev: float | None  # nats per word, words and tree together
    sg: float | None  # percent, mean over 33 suites
    agreement: float | None  # percent of the circuit's items
    blimp: float | None  # percent, mean over paradigms


def evaluate(run: Path, data: dict[str, Path], limit: int, accuracy: str) -> None:
    """Both evaluations of every model that has none yet."""
    for model in models(run):
        for kind, source in data.items():
            out = run / "evaluated" / model.name / kind
            if (out / "results.json").is_file():
                continue
            out.parent.mkdir(parents=True, exist_ok=True)
            command = [sys.executable, "-m", "dtg", "evaluate", kind, str(source), "--model", str(model)]
            command += ["--name", f"{run.name} {model.name}", "--accuracy", accuracy, "--out", str(out)]
            command += ["--limit", str(limit)] if kind == "blimp" else []
            done = subprocess.run(command, check=False)
            if done.returncode:
                raise SystemExit(f"{out} ended with code {done.returncode}; the same command resumes it.")


def models(run: Path) -> list[Path]:
    """The models that were kept, in order."""
    found = sorted((run / "models").glob("step-*"), key=step_of)
    if not found:
        raise SystemExit(f"{run} has kept no models: train with training.save_every.")
    return found


def points(run: Path) -> list[Point]:
    """What is known of every model."""
    kept, log = models(run), read_log(run / "log.jsonl")
    words = {record["step"]: record["words"] for record in log if "words" in record and "step" in record}
    dev = {record["step"]: math.log(record["word_perplexity"]) for record in log if record["kind"] == "dev"}
    found = []
    for model in kept:
        step, (sg, blimp) = step_of(model), (scores(run / "evaluated" / model.name / kind) for kind in KINDS)
        read = max((count for number, count in words.items() if number <= step), default=0)
        means = {(one["suites"], one["mean"]): one["accuracy"] for one in sg["first"]["averages"]} if sg else {}
        agreement = sg["first"]["circuits"].get("Agreement", {}).get("accuracy") if sg else None
        paradigms = blimp["sentence"]["overall"]["paradigm_mean"] if blimp else None
        found.append(Point(step, read, dev.get(step), means.get(("33 suites", "suite mean")), agreement, paradigms))
    return found


def scores(folder: Path) -> dict[str, Any] | None:
    """Of an evaluation that is finished."""
    path = folder / "results.json"
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["scores"]
    return found


def table(runs: Sequence[Path]) -> str:
    lines = ["| run | words read | dev, nats per word | SyntaxGym | agreement | BLiMP |", "|---|---|---|---|---|---|"]
    for run in runs:
        for point in points(run):
            values = [point.dev, point.sg, point.agreement, point.blimp]
            cells = [
                "" if value is None else f"{value:.{digits}f}"
                for value, digits in zip(values, (3, 1, 1, 1), strict=True)
            ]
            lines.append(f"| {run.name} | {point.words:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw(runs: Sequence[Path], out: Path) -> None:
    """Three panels: dev, SyntaxGym and BLiMP against the words read."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    titles = {"dev": "dev, nats per word", "sg": "SyntaxGym, %", "blimp": "BLiMP, %"}
    for axes, (name, title) in zip(panels, titles.items(), strict=True):
        for run in runs:
            known = [(point.words, value) for point in points(run) if (value := getattr(point, name)) is not None]
            axes.plot(
                [words for words, _ in known], [value for _, value in known], marker="o", markersize=3, label=run.name
            )
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("words read")
        axes.set_xlim(left=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1e6:g}M")
    panels[0].legend(frameon=False)
    with replacing(out) as temporary:
        figure.savefig(temporary, format=out.suffix.removeprefix(".") or "svg")
    pyplot.close(figure)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["evaluate", "table", "draw"])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--sg", type=Path, help="the folder of SyntaxGym's suites")
    parser.add_argument("--blimp", type=Path, help="the folder of BLiMP's paradigms")
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--accuracy", default="fast")
    parser.add_argument("--out", type=Path, default=Path("curve.svg"))
    given = parser.parse_intermixed_args(arguments)
    if given.what == "evaluate":
        data = {kind: getattr(given, kind) for kind in KINDS if getattr(given, kind) is not None}
        if not data:
            parser.error("evaluate needs --sg or --blimp, or both")
        for run in given.runs:
            evaluate(run, data, given.limit, given.accuracy)
    elif given.what == "table":
        print(table(given.runs), end="")
    else:
        draw(given.runs, given.out)


if __name__ == "__main__":
    main()
