"""Who proposes trees, by name: a parser, a file of trees or a spaCy pipeline, and what identifies it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from dtg import pretrained
from dtg.errors import InputError
from dtg.io.devices import resolve_device
from dtg.io.hashing import file_hash
from dtg.io.weights import weights_hash
from dtg.parser import Parser, load_parser
from dtg.parser.saving import parser_hash
from dtg.proposals.from_file import FileProposal
from dtg.proposals.from_spacy import SpacyParser
from dtg.proposals.projected import ProjectedProposal
from dtg.proposals.repair import RepairCounts
from dtg.scoring.proposal import Proposal
from dtg.trees.phrases.projection import PhraseLabels
from dtg.trees.reading import is_bracket_file, is_conllu_file

SPACY = "spacy:"


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

    @property
    def gives_phrases(self) -> bool:
        """Whether its trees are phrases rather than dependencies."""
        if isinstance(self.proposal, Parser):
            return self.proposal.kind == "constituency"
        if isinstance(self.proposal, FileProposal):
            return self.proposal.has_brackets
        return isinstance(self.proposal, ProjectedProposal)

    def changes(self) -> list[str]:
        """Which of the proposed trees had to be changed; a parser of dtg's own needs no changes."""
        return [f"{line}." for repairs in self.tallies() for line in repairs.lines()]

    def tallies(self) -> list[RepairCounts]:
        """What counts these changes."""
        proposal = self.proposal.proposal if isinstance(self.proposal, ProjectedProposal) else self.proposal
        return [proposal.repairs] if isinstance(proposal, FileProposal | SpacyParser) else []
