"""The part of `dtg info` that is about trained models and parsers: what they are, and which are bundled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from dtg import pretrained
from dtg.errors import InputError
from dtg.io.json_files import CONFIG, FORMAT_VERSION, WEIGHTS


def is_trained(path: Path) -> bool:
    """Whether a name or a path stands for a trained model or parser."""
    return (pretrained.find(path) / CONFIG).is_file()


def list_box(*, as_json: bool) -> None:
    """What can be used by name."""
    if as_json:
        typer.echo(json.dumps({"format_version": FORMAT_VERSION, "box": pretrained.names()}))
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
