"""`dtg info`: what is in treebanks, what a trained model or parser is, and what is bundled."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dtg import pretrained
from dtg.cli.options import JsonOption, NonProjectiveOption, RootsOption, SkipInvalidOption
from dtg.errors import InputError
from dtg.io.json_files import CONFIG, FORMAT_VERSION, WEIGHTS
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
    nonprojective: NonProjectiveOption = "lift",
    roots: RootsOption = "error",
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
        list_bundled(as_json=as_json)
        return
    if len(treebanks) == 1 and is_trained(treebanks[0]):
        describe(treebanks[0], as_json=as_json)
        return
    from dtg.cli.progress import show_changes, with_progress

    report, extent = TreebankReport(), Extent()
    trees = read_treebank(treebanks, nonprojective=nonprojective, roots=roots, skip_invalid=skip_invalid, report=report)
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
    typer.echo(f"{mean:.1f} words on average, {extent.longest} in the longest; trees up to {extent.deepest} arcs deep")
    show_changes(report)


def is_trained(path: Path) -> bool:
    """Whether a name or a path stands for a trained model or parser."""
    return (pretrained.find(path) / CONFIG).is_file()


def list_bundled(*, as_json: bool) -> None:
    """What can be used by name."""
    if as_json:
        typer.echo(
            json.dumps({"format_version": FORMAT_VERSION, "bundled": pretrained.names(), "box": pretrained.names()})
        )
        return
    for name in pretrained.names():
        typer.echo(f"{name:16}{title(name)}")
    typer.echo(
        "dtg info NAME shows what it was trained on, its licence and its scores; dtg info FILE what is in a treebank."
    )


def title(name: str) -> str:
    """A card's first line of text."""
    return next(line for line in pretrained.card(name).splitlines() if line and not line.startswith("#"))


def kind_of(content: Any, folder: Path) -> str:
    """Whether a config.json is a model's or a parser's."""
    kind = next((kind for kind in ("model", "parser") if isinstance(content, dict) and kind in content), None)
    if kind is None:
        raise InputError(f"{folder / CONFIG} is not that of a model or a parser.")
    return kind


def describe(path: Path, *, as_json: bool) -> None:
    """One of them: kind, size and settings; for a bundled one, its card."""
    from dtg.io.saved import read_saved_config

    folder = pretrained.find(path)
    content = read_saved_config(folder, "")
    kind = kind_of(content, folder)
    size = (folder / WEIGHTS).stat().st_size if (folder / WEIGHTS).is_file() else 0
    if as_json:
        shown: dict[str, Any] = {"kind": kind, "folder": str(folder), "bytes": size, "settings": content[kind]}
        typer.echo(json.dumps({"format_version": FORMAT_VERSION, **shown}, ensure_ascii=False))
        return
    if path.name in pretrained.names() and folder.parent == pretrained.FOLDER:
        typer.echo(pretrained.card(path.name).rstrip() + "\n")
    typer.echo(f"a {kind} in {folder}, {size / 1e6:.1f} MB of weights")
    for name, value in content[kind].items():
        typer.echo(f"  {name} = {json.dumps(value)}")
