"""Loads what `--model` and `--parser` name, onto the device that `--device` names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtg import __version__, pretrained
from dtg.errors import InputError

if TYPE_CHECKING:
    from dtg.language_model import LanguageModel
    from dtg.parser import Parser
    from dtg.tables.columns import Column
    from dtg.tables.sidecar import Sidecar


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A loaded language model, its folder, and what tables call it."""

    model: LanguageModel
    folder: Path
    name: str

    @property
    def known(self) -> str:
        """What the model's log p(x) is: a sum over the trees that a search has found, unless it has no trees."""
        return "lower bound" if self.model.has_trees else "exact"

    @property
    def sha256(self) -> str:
        """A hash of the model's files."""
        from dtg.model.saving import model_hash

        return model_hash(self.folder)


def load_models(names: Sequence[Path] | None, device: str) -> list[NamedModel]:
    """The models that `--model` names. Two that have the same name are told apart by their folders."""
    folders = list(map(model_folder, names or [Path(pretrained.MODEL)]))
    if twice := [str(folder) for folder, count in Counter(folders).items() if count > 1]:
        raise InputError(f"--model {twice[0]} is given twice.")
    models = [load_model(folder, device) for folder in folders]
    called = Counter(model.name for model in models)
    return [
        NamedModel(model, folder, model.name if called[model.name] == 1 else str(folder))
        for model, folder in zip(models, folders, strict=True)
    ]


def model_folder(name: Path | None) -> Path:
    """The folder that --model names; without it, that of the bundled model."""
    return pretrained.find(name or pretrained.MODEL)


def load_model(folder: Path, device: str) -> LanguageModel:
    """The model of a folder, on the device named on the command line."""
    import dtg
    from dtg.io.devices import resolve_device

    return dtg.load(folder, resolve_device(device))


def parser_folder(name: Path | None) -> Path:
    """The folder that --parser names; without it, that of the bundled parser."""
    return pretrained.find(name or pretrained.PARSER)


def load_parser(folder: Path, device: str) -> Parser:
    """The parser of a folder, on the device named on the command line."""
    import dtg
    from dtg.io.devices import resolve_device

    return dtg.load_parser(folder, resolve_device(device))


def provenance(
    command: str, settings: Mapping[str, Any], given: Mapping[str, Any], columns: Sequence[Column] = ()
) -> Sidecar:
    """The record beside a file: what decides its content (`settings`), and what was named on the command line (`given`)."""
    from dtg.tables.sidecar import Sidecar

    return Sidecar.begin({"command": command, "dtg": __version__, **settings}, given, columns)
