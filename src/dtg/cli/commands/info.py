"""`dtg info`: what is in treebanks, what a trained model or parser is, and what is bundled."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dtg.cli.info_trained import describe, is_trained, list_box
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
from dtg.io.json_files import FORMAT_VERSION
from dtg.trees import TreebankReport, read_treebank


@dataclass(slots=True)
class Extent:
    """How far the trees go."""

    longest: int = 0  # words
    deepest: int = 0  # arcs from <ROOT>


def info(
    treebanks: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Treebank files (.conllu, .conll, .gz); or a model or parser, its folder or the name of a bundled one.",
            metavar="FILE...|DIR|NAME",
        ),
    ] = None,
    nonprojective: NonProjectiveOption = NonProjectiveChoice.lift,
    roots: RootsOption = RootsChoice.error,
    skip_invalid: SkipInvalidOption = False,
    as_json: JsonOption = False,
) -> None:
    """What comes with dtg (without arguments), what a model or parser is, or what is in treebanks.

    dtg info

    dtg info parser-small

    dtg info en_ewt-ud-train.conllu

    Treebanks are read whole; what had to be changed and what was left out is said.
    """
    if not treebanks:
        list_box(as_json=as_json)
        return
    if len(treebanks) == 1 and is_trained(treebanks[0]):
        describe(treebanks[0], as_json=as_json)
        return
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
