"""`dtg info`: what is in a file. For now, treebanks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dtg.cli.options import (
    JsonOption,
    NonProjectiveChoice,
    NonProjectiveOption,
    RootsChoice,
    RootsOption,
    SkipInvalidOption,
    tell,
    with_progress,
)
from dtg.files import FORMAT_VERSION
from dtg.trees import TreebankReport, read_treebank


@dataclass(slots=True)
class Extent:
    """How far the trees go."""

    longest: int = 0  # words
    deepest: int = 0  # arcs from <ROOT>


def info(
    treebanks: Annotated[list[Path], typer.Argument(help="Treebank files (.conllu, .conll, .gz).")],
    nonprojective: NonProjectiveOption = NonProjectiveChoice.lift,
    roots: RootsOption = RootsChoice.error,
    skip_invalid: SkipInvalidOption = False,
    as_json: JsonOption = False,
) -> None:
    """Read treebanks whole and say what is in them, what had to be changed, and what was left out.

    dtg info en_ewt-ud-train.conllu
    dtg info amalgum-train.conllu.gz --roots first
    """
    report, extent = TreebankReport(), Extent()
    trees = read_treebank(
        treebanks, nonprojective=nonprojective.policy, roots=roots.policy, skip_invalid=skip_invalid, report=report
    )
    for tree in with_progress(trees, report, "reading"):
        extent.longest = max(extent.longest, len(tree))
        extent.deepest = max(extent.deepest, tree.depth)
    if as_json:
        files = [str(path) for path in treebanks]
        content: dict[str, Any] = {"format_version": FORMAT_VERSION, "files": files, **report.as_dict()}
        typer.echo(json.dumps({**content, "longest": extent.longest, "deepest": extent.deepest}, ensure_ascii=False))
        return
    mean = report.words / report.sentences if report.sentences else 0.0
    typer.echo(report.lines()[0])
    typer.echo(f"{mean:.1f} words in the mean, {extent.longest} in the longest; trees up to {extent.deepest} arcs deep")
    tell(report)
