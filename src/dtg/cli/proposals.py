"""What `--parser` can name where trees are to be proposed: a trained parser, a file of trees, or a spaCy pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dtg import pretrained
from dtg.cli.commands.parse import TREEBANK, load_parser
from dtg.errors import InputError

if TYPE_CHECKING:
    from dtg.scoring.proposal import Proposal

SPACY = "spacy:"
ProposalOption = Annotated[
    str | None,
    typer.Option(
        "--parser",
        help="Where trees come from: a trained parser (its folder, RUN/best, or a name), a file of trees (.conllu, .conll, "
        f".gz), or spacy:PIPELINE (spacy:en_core_web_sm). [default: {pretrained.PARSER}]",
        metavar="DIR|NAME|CONLLU|spacy:NAME",
    ),
]


def open_proposal(name: str, device: str) -> Proposal:
    """What `--parser` names. Only a parser of dtg's own computes on `device`: spaCy stays on the CPU."""
    if name.startswith(SPACY):
        from dtg.proposals.from_spacy import SpacyParser

        return SpacyParser.load(name.removeprefix(SPACY))
    path = pretrained.find(name)
    if path.is_dir():
        return load_parser(path, device)
    if path.is_file() and Path(name.removesuffix(".gz")).suffix.lower() in TREEBANK:
        from dtg.proposals.from_file import FileProposal

        return FileProposal(path)
    arrived = "is a file, but not named as one of trees" if path.is_file() else "is no file or folder"
    raise InputError(
        f"--parser {name} {arrived}. It may be\n"
        f"a bundled parser: {pretrained.PARSER};\n"
        "a folder that dtg train-parser has made, such as RUN/best;\n"
        "a file of trees, .conllu or .conll (or these with .gz);\n"
        "spacy: and the name or folder of a pipeline, such as spacy:en_core_web_sm."
    )


def tell_changes(proposal: Proposal) -> None:
    """Say on the error stream which of the proposed trees had to be changed; a parser of dtg's own needs no changes."""
    from dtg.proposals.from_file import FileProposal
    from dtg.proposals.from_spacy import SpacyParser

    if isinstance(proposal, FileProposal | SpacyParser):
        for line in proposal.repairs.lines():
            typer.echo(f"dtg: {line}.", err=True)
