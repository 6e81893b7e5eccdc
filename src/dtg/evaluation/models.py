"""What is evaluated: a language model or a parser, with its name, its hash and its device; and who proposes trees."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import dtg
from dtg import pretrained
from dtg.errors import InputError
from dtg.io.hashing import file_hash
from dtg.language_model import LanguageModel, name_of
from dtg.model.saving import model_hash
from dtg.parser import Parser, load_parser
from dtg.parser.saving import parser_hash
from dtg.proposals.from_file import FileProposal
from dtg.proposals.from_spacy import SpacyParser
from dtg.proposals.projected import ProjectedProposal
from dtg.scoring.proposal import Proposal
from dtg.trees.phrases.projection import PhraseLabels
from dtg.trees.reading import is_bracket_file, is_conllu_file

SPACY = "spacy:"


@dataclass(frozen=True, slots=True)
class EvaluatedModel:
    """A language model, or a parser, and what it is called."""

    model: Any  # a LanguageModel, or a Parser where it is parsers that are evaluated
    name: str
    sha256: str
    device: str
    folder: str | None = None

    @classmethod
    def of(
        cls, model: LanguageModel | str | Path | None = None, device: str = "auto", name: str | None = None
    ) -> EvaluatedModel:
        """A model in memory, or the folder or bundled name of one; without any, the default model."""
        if model is None or isinstance(model, str | Path):
            folder = pretrained.find(model or pretrained.MODEL)
            device = resolve_device(device)
            loaded = LanguageModel.load(folder, device)
            return cls(loaded, name or name_of(folder), model_hash(folder), device, str(folder))
        return cls(model, name or model.name, weights_hash(model.decoder_model), str(model.device))

    @classmethod
    def of_parser(
        cls, parser: Parser | str | Path | None = None, device: str = "auto", name: str | None = None
    ) -> EvaluatedModel:
        """A parser in memory, or the folder or bundled name of one; without any, the default parser."""
        if parser is None or isinstance(parser, str | Path):
            folder = pretrained.find(parser or pretrained.PARSER)
            device = resolve_device(device)
            loaded = load_parser(folder, device)
            return cls(loaded, name or name_of(folder), parser_hash(folder), device, str(folder))
        device = str(next(parser.parameters()).device)
        return cls(parser, name or "parser", weights_hash(parser), device)

    def settings(self, command: str, data_sha256: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """What decides the numbers."""
        is_parser = isinstance(self.model, Parser)
        return {
            "command": command,
            "dtg": dtg.__version__,
            **({"parser_sha256": self.sha256} if is_parser else {"family": self.model.config.family}),
            **({} if is_parser else {"model_sha256": self.sha256}),
            "data_sha256": data_sha256,
            **options,
            "device": self.device,
        }


@dataclass(frozen=True, slots=True)
class NamedProposal:
    """Where trees come from, what it is called, and what identifies it."""

    proposal: Proposal
    name: str
    sha256: str

    @classmethod
    def of(
        cls,
        proposal: Proposal | str | Path | None = None,
        device: str = "auto",
        project: PhraseLabels | None = None,
    ) -> NamedProposal:
        """An object that proposes trees; a parser (its folder or bundled name); a file of trees; or spacy:PIPELINE.

        With `project`, the dependencies that it gives are projected to phrases with these labels.
        """
        if project is not None:
            found = cls.of(proposal, device)
            name = f"{found.name} (phrases, {project})"
            return cls(ProjectedProposal(found.proposal, project), name, found.sha256)  # the same trees
        if isinstance(proposal, Proposal):
            sha256 = weights_hash(proposal) if isinstance(proposal, torch.nn.Module) else type(proposal).__name__
            return cls(proposal, type(proposal).__name__, sha256)
        name = str(proposal or pretrained.PARSER)
        if name.startswith(SPACY):
            return cls(SpacyParser.load(name.removeprefix(SPACY)), name, name)
        path = pretrained.find(name)
        if path.is_dir():
            return cls(load_parser(path, resolve_device(device)), name, parser_hash(path))
        if path.is_file() and (is_conllu_file(name) or is_bracket_file(name)):
            return cls(FileProposal(path), name, file_hash(path))
        arrived = "is a file, but not named as one of trees" if path.is_file() else "is no file or folder"
        raise InputError(
            f"{name} {arrived}. Trees can be proposed by\n"
            f"a bundled parser: {pretrained.PARSER};\n"
            "a folder with a trained parser, such as RUN/best;\n"
            "a file of trees, .conllu, .conll, .ptb, .mrg or .brackets (or these with .gz or .xz);\n"
            "spacy: and the name or folder of a pipeline, such as spacy:en_core_web_sm."
        )

    def changes(self) -> list[str]:
        """Which of the proposed trees had to be changed; a parser of dtg's own needs no changes."""
        proposal = self.proposal.proposal if isinstance(self.proposal, ProjectedProposal) else self.proposal
        if not isinstance(proposal, FileProposal | SpacyParser):
            return []
        return [f"{line}." for line in proposal.repairs.lines()]


def resolve_device(device: str) -> str:
    """The device to compute on; `auto` is a GPU where there is one."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        kind = torch.device(device).type
    except RuntimeError:
        raise InputError(f"{device!r} is not a device; auto, cpu, cuda, cuda:1 and mps are.") from None
    if (kind == "cuda" and not torch.cuda.is_available()) or (kind == "mps" and not torch.backends.mps.is_available()):
        raise InputError(f"the device {device} is not available on this machine; cpu is.")
    return device


def weights_hash(module: torch.nn.Module) -> str:
    """What identifies a model that is not in a folder."""
    digest = hashlib.sha256()
    for name, values in module.state_dict().items():
        digest.update(f"{name} {values.dtype} {tuple(values.shape)}\n".encode())
        digest.update(values.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
