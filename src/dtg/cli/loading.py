"""Loads what `--model` and `--parser` name, onto the device that `--device` names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dtg import __version__, pretrained
from dtg.errors import InputError
from dtg.trees.reading import is_bracket_file, is_conllu_file

if TYPE_CHECKING:
    from dtg.language_model import LanguageModel
    from dtg.parser import Parser
    from dtg.scoring.proposal import Proposal
    from dtg.tables.columns import Column
    from dtg.tables.sidecar import Sidecar
    from dtg.trees.phrases.projection import PhraseLabels

SPACY = "spacy:"


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

    return dtg.load(folder, resolve_device(device))


def parser_folder(name: Path | None) -> Path:
    """The folder that --parser names; without it, that of the bundled parser."""
    return pretrained.find(name or pretrained.PARSER)


def load_parser(folder: Path, device: str) -> Parser:
    """The parser of a folder, on the device named on the command line."""
    import dtg

    return dtg.load_parser(folder, resolve_device(device))


def resolve_device(device: str) -> str:
    """The device that is meant; raises unless this machine has it."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        kind = torch.device(device).type
    except RuntimeError:
        raise InputError(f"--device {device!r} is not a device; auto, cpu, cuda, cuda:1 and mps are.") from None
    if (kind == "cuda" and not torch.cuda.is_available()) or (kind == "mps" and not torch.backends.mps.is_available()):
        raise InputError(f"--device {device} is not available on this machine. Pass --device cpu.")
    if kind not in ("cpu", "cuda", "mps"):
        raise InputError(f"--device {device} cannot be computed on; auto, cpu, cuda, cuda:1 and mps can.")
    return device


def open_proposal(name: str, device: str, project: PhraseLabels | None = None) -> Proposal:
    """What `--parser` names where trees are proposed, projected to phrases if that is wanted. spaCy stays on the CPU."""
    if project is not None:
        from dtg.proposals.projected import ProjectedProposal

        return ProjectedProposal(open_proposal(name, device), project)
    if name.startswith(SPACY):
        from dtg.proposals.from_spacy import SpacyParser

        return SpacyParser.load(name.removeprefix(SPACY))
    path = pretrained.find(name)
    if path.is_dir():
        return load_parser(path, device)
    if path.is_file() and (is_conllu_file(name) or is_bracket_file(name)):
        from dtg.proposals.from_file import FileProposal

        return FileProposal(path)
    arrived = "is a file, but not named as one of trees" if path.is_file() else "is no file or folder"
    raise InputError(
        f"--parser {name} {arrived}. It may be\n"
        f"a bundled parser: {pretrained.PARSER};\n"
        "a folder that dtg train-parser has made, such as RUN/best;\n"
        "a file of trees, .conllu, .conll, .ptb, .mrg or .brackets (or these with .gz or .xz);\n"
        "spacy: and the name or folder of a pipeline, such as spacy:en_core_web_sm."
    )


def gives_phrases(proposal: Proposal) -> bool:
    """Whether what is proposed is phrases rather than dependencies."""
    from dtg.parser import Parser
    from dtg.proposals.from_file import FileProposal
    from dtg.proposals.projected import ProjectedProposal

    if isinstance(proposal, Parser):
        return proposal.kind == "constituency"
    return isinstance(proposal, ProjectedProposal) or (isinstance(proposal, FileProposal) and proposal.has_brackets)


def proposal_identity(proposal: str) -> str:
    """A hash of the parser, or of the file of trees, as it is now; a spaCy pipeline by its name."""
    from dtg.io.hashing import file_hash
    from dtg.parser.saving import parser_hash

    path = pretrained.find(proposal)
    if proposal.startswith(SPACY):
        return proposal
    return parser_hash(path) if path.is_dir() else file_hash(path)


def show_repairs(proposal: Proposal) -> None:
    """Say on the error stream which of the proposed trees had to be changed; a parser of dtg's own needs no changes."""
    from dtg.proposals.from_file import FileProposal
    from dtg.proposals.from_spacy import SpacyParser
    from dtg.proposals.projected import ProjectedProposal

    if isinstance(proposal, ProjectedProposal):
        proposal = proposal.proposal
    if isinstance(proposal, FileProposal | SpacyParser):
        for line in proposal.repairs.lines():
            typer.echo(f"dtg: {line}.", err=True)


def provenance(
    command: str, settings: Mapping[str, Any], given: Mapping[str, Any], columns: Sequence[Column] = ()
) -> Sidecar:
    """The record beside a file: what decides its content (`settings`), and what was named on the command line (`given`)."""
    from dtg.tables.sidecar import Sidecar

    return Sidecar.begin({"command": command, "dtg": __version__, **settings}, given, columns)
