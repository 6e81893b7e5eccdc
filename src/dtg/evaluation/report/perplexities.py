"""Perplexity by every convention: models in, a table of the words' perplexity and one of words and tree out."""

from __future__ import annotations

from collections.abc import Sequence

from dtg.evaluation.perplexity_report import CONVENTIONS, MEANINGS
from dtg.evaluation.report.cells import COMMANDS, number, texts
from dtg.evaluation.report.comparing import Basis, basis_of, unlike
from dtg.evaluation.report.models import Model
from dtg.evaluation.report.overview import OF_WORDS, ppl_cell, ppl_of
from dtg.evaluation.report.page import Block, Cell, Section, Table, Text, without_empty_columns

COLUMNS = {
    "per_word": "per word",
    "per_word_and_end": "per word, + <END>",
    "per_word_without_end": "per word, no <END>",
    "per_piece": "per piece",
    "per_piece_and_end": "per piece, + <END>",
    "per_piece_without_end": "per piece, no <END>",
}
TABLES = (
    ("perplexity", "Perplexity of the words.", OF_WORDS),
    ("perplexity-joint", "Perplexity of the words together with the trees of the file.", ("joint",)),
)


def perplexity_section(models: Sequence[Model]) -> Section:
    """Numbers of one kind stand together, because only these compare."""
    blocks: list[Block] = []
    used: list[str] = []
    for name, title, kinds in TABLES:
        rows = rows_of(models, kinds)
        if rows:
            header = texts("Model", "log p by", *COLUMNS.values(), "trees", "ESS", "sentences", "words", "pieces")
            used += [by for by in kinds if any(row[1].text == by for row in rows)]
            header, *rows = without_empty_columns(header, rows)
            blocks.append(Table(name, title, header, rows))
    if not blocks:
        return Section("Perplexity", (Text((f"Not evaluated yet: {COMMANDS['ppl']} makes it.",)),))
    explained = (
        *(as_code(line) for by, line in MEANINGS.items() if by in used),
        *map(as_code, CONVENTIONS),
        "`ESS`: the effective sample size of an estimate, the mean over sentences.",
    )
    return Section("Perplexity", (*blocks, Text(explained)))


def rows_of(models: Sequence[Model], kinds: Sequence[str]) -> list[list[Cell]]:
    """A row for each model and kind of probability that it has."""
    entries = [
        (by, model)
        for by in kinds
        for model in models
        if "ppl" in model.results and by in model.results["ppl"].content["perplexities"]
    ]
    bases = [basis_of(model.results["ppl"], by) for by, model in entries]
    data = unlike([Basis(basis.data, None) for basis in bases])
    pieces = unlike([Basis((("pieces", ppl_of(model, by)["pieces"]),), None) for by, model in entries])
    methods = [  # of others that are by the same: the tables say which
        unlike(
            [Basis((), basis.method if by == other else None) for (other, _), basis in zip(entries, bases, strict=True)]
        )
        for by, _ in entries
    ]
    rows = []
    for place, (by, model) in enumerate(entries):
        one = ppl_of(model, by)
        numbers = [
            ppl_cell(one, convention, pieces[place] if "piece" in convention and convention in one else ())
            for convention in COLUMNS
        ]
        drawn = [number(one.get(name), 1) for name in ("trees", "effective_sample_size")]
        counts = [number(one[name]) for name in ("sentences", "words", "pieces")]
        notes = (*data[place], *methods[place][place])
        rows.append([Cell(model.name, notes), Cell(by), *numbers, *drawn, *counts])
    return rows


def as_code(line: str) -> str:
    """A line of the form `name: meaning`, the name set as code."""
    name, _, meaning = line.partition(": ")
    return f"`{name}`: {meaning.replace('<END>', '`<END>`')}"
