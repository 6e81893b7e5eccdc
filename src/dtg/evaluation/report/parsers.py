"""Parsers: their scores and the models that rely on them in, the paper's table of external parsers out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dtg.evaluation.report.cells import COMMANDS, absent, missing, number, texts
from dtg.evaluation.report.comparing import Basis, unlike
from dtg.evaluation.report.finding import Found
from dtg.evaluation.report.models import Model
from dtg.evaluation.report.overview import Headlines
from dtg.evaluation.report.page import Block, Cell, Section, Table, Text, without_empty_columns
from dtg.evaluation.report.reranking import DEPENDENCIES

HEADER = (
    "Parser",
    "treebank",
    "sentences",
    "UAS",
    "LAS",
    "exact",
    "UAS, no punctuation",
    "LAS, no punctuation",
    "best of",
    "UAS of the best",
)
CORPORA = (
    "The parser that proposes trees for evaluation need not be the one whose trees the model was trained on. Two models were "
    "trained on the same trees if their corpora (by sha256) are the same."
)


def parser_section(models: Sequence[Model], parsers: Sequence[Found], headlines: Headlines) -> Section:
    """How good parsers are, and the models for which each proposed trees."""
    blocks: list[Block] = []
    if parsers:
        bases = [Basis((("treebank", treebank(one)), ("words", one.content["all"]["words"])), None) for one in parsers]
        rows = [parser_row(found, notes) for found, notes in zip(parsers, unlike(bases), strict=True)]
        header, *rows = without_empty_columns(texts(*HEADER), rows)
        blocks.append(Table("parsers", "Parsers.", header, rows))
    else:
        blocks.append(Text((f"No parser was evaluated yet: {COMMANDS['parser']} does it.",)))
    rows = [
        [
            Cell(model.name),
            Cell(proposal),
            uas_of(proposal, parsers),
            corpus_of(model),
            headlines.per_word[place],
            headlines.blimp[place],
        ]
        for place, model in enumerate(models)
        if (proposal := proposal_of(model)) is not None
    ]
    if rows:
        header = texts("Model", "trees proposed by", "its UAS", "trained on corpus", "PPL per word", "BLiMP")
        blocks.append(Table("external-parsers", "Models by the parser that proposes their trees.", header, rows))
        blocks.append(Text((CORPORA,)))
    return Section("Parsers", (*blocks, Text((DEPENDENCIES,))))


def parser_row(found: Found, notes: tuple[str, ...]) -> list[Cell]:
    every, some = found.content["all"], found.content["without_punctuation"]
    best = found.content.get("oracle", {})
    shares = (every["uas"], every.get("las"), every["exact"], some["uas"], some.get("las"))
    return [
        Cell(str(found.given["parser"]), notes),
        Cell(treebank(found)),
        number(every["sentences"]),
        *(number(share, 1) for share in shares),
        number(best.get("nbest")),
        number(best.get("uas"), 1),
    ]


def treebank(found: Found) -> str:
    return ", ".join(Path(file).name for file in found.given["files"])


def proposal_of(model: Model) -> str | None:
    """Who proposed the trees of the model's perplexity; None if nobody did."""
    found = model.results.get("ppl")
    return None if found is None else found.given.get("proposal")


def uas_of(proposal: str, parsers: Sequence[Found]) -> Cell:
    """That of the parser in this folder, if it was evaluated."""
    shares = {found.content["all"]["uas"] for found in parsers if found.given["parser"] == proposal}
    if not shares:
        return missing("parser")
    return number(shares.pop(), 1) if len(shares) == 1 else absent("There are several; the table above has them.")


def corpus_of(model: Model) -> Cell:
    if model.run is None:
        return absent("Not known. `--run NAME=RUN` names the training run.")
    return Cell(str(model.run.about["corpus"])[:8])
