"""Parser accuracy as a task: how many heads and labels of a treebank a parser finds.

UAS is the share of words with the right head, LAS of those with the right label too (subtypes such as `nsubj:pass`
count). Punctuation is what the treebank tags PUNCT. Gold trees are taken as they are, crossing arcs included, which a
projective parser cannot all get right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from dtg.errors import InputError
from dtg.evaluation.comparison import paired_difference
from dtg.evaluation.contract import Content, Item, Row
from dtg.evaluation.intervals import ratio_interval
from dtg.evaluation.rendering import Block, TextBlock, pluralize
from dtg.evaluation.tasks.gold import GoldTask, ParsingTask, by_length, identity, percent, ticket
from dtg.evaluation.tasks.selection import choose, content_hash
from dtg.parser import Parser
from dtg.parser.encoder.vocabulary import tags_of
from dtg.tables.columns import Column
from dtg.trees import DependencyTree, TreebankReport, read_conllu
from dtg.trees.conllu import Roots

# What is counted of a sentence.
HEADS = {"uas": "heads", "las": "labels"}
EXACT = {"exact": "heads", "exact_labelled": "labels"}
LABELLED = ("las", "exact_labelled")


class GoldDependencies(GoldTask, Protocol):
    """A task of dependencies that are compared with gold ones; models are compared by the heads that they get right."""

    measured: ClassVar[tuple[str, str]] = ("uas", "UAS")
    right: ClassVar[str]  # the column with how many heads are right

    @classmethod
    def difference(cls, ours: Sequence[Item], theirs: Sequence[Item]) -> dict[str, Any]:
        gained = [one[cls.right] - other[cls.right] for one, other in zip(ours, theirs, strict=True)]
        value, low, high = paired_difference(gained, [one["words"] for one in ours])
        return {"value": 100 * value, "interval": [100 * low, 100 * high]}


@dataclass(frozen=True)
class Parsing(ParsingTask, GoldDependencies):
    """Gold trees, and how many of a parser's trees are looked at. `Parsing.of` reads them."""

    name: ClassVar[str] = "parser"
    table: ClassVar[str] = "sentences.csv"
    right: ClassVar[str] = "heads"
    unit: ClassVar[str] = "words"
    shares: ClassVar[Mapping[str, str]] = {name: name.replace("_", " ") for name in (*HEADS, *EXACT)}
    columns: ClassVar[Sequence[Column]] = (
        Column("sentence_id", int, "the sentence's number in its file, from 1"),
        Column("sent_id", str, "its name in the treebank"),
        Column("words", int, "how many it has"),
        Column("scored", int, "those that are not tagged PUNCT"),
        Column("heads", int, "words with the right head"),
        Column("labels", int, "words with the right head and label; empty where the parser has no labels"),
        Column("heads_scored", int, "as heads, of words that are not tagged PUNCT"),
        Column("labels_scored", int, "as labels, of words that are not tagged PUNCT"),
        Column("oracle", int, "words with the right head in the tree of the list that has most of them"),
        Column("crosses", int, "1 if the gold tree has crossing arcs, which no tree of the parser has"),
    )

    files: tuple[Path, ...]
    gold: tuple[DependencyTree, ...]
    nbest: int = 10
    labelled: bool = True
    report: TreebankReport = field(default_factory=TreebankReport, compare=False)

    @classmethod
    def of(
        cls,
        source: Path | Sequence[Path],
        *,
        nbest: int = 10,
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
        roots: Roots = "error",
        skip_invalid: bool = False,
    ) -> Self:
        """Gold trees of one or more treebanks.

        Args:
            source: files (.conllu, .conll, .gz).
            nbest: also score the best of the parser's n-best trees; 1 for none.
            limit, sample, seed: the first sentences, or some at random.
            roots, skip_invalid: what happens to trees of several roots, and to what cannot be read (see `read_conllu`).
        """
        files = (source,) if isinstance(source, Path) else tuple(source)
        report = TreebankReport()
        streams = [read_conllu(path, roots=roots, skip_invalid=skip_invalid, report=report) for path in files]
        gold = choose(chain(*streams), lambda tree: ticket(tree, seed), limit=limit, sample=sample)
        return cls(files, tuple(gold), nbest, report=report)

    @cached_property
    def data_sha256(self) -> str:
        return content_hash([[tree.words, tree.heads, tree.labels, is_punctuation(tree)] for tree in self.gold])

    def for_model(self, model: Parser) -> Self:  # type: ignore[override]  # of parsers, not language models
        if isinstance(model, Parser) and model.kind != "dependency":
            raise InputError(
                f"{self.data} holds dependencies, and the parser gives phrases. Name a treebank in brackets (.ptb, .mrg, "
                ".brackets), or a dependency parser."
            )
        return replace(self, labelled=model.is_labelled)

    def measure(self, model: Parser, items: Sequence[DependencyTree]) -> list[Row]:  # type: ignore[override]
        lists = model.k_best_all((tree.words for tree in items), self.nbest)
        return [
            counted(gold, [one.tree for one in found], self.labelled) for gold, found in zip(items, lists, strict=True)
        ]

    def summarize(self, rows: Sequence[Row], name: str) -> Content:
        scores = parser_scores(rows, self.nbest, labelled=self.labelled)
        counted = {"all words": (rows, "words", ""), "no punctuation": (rows, "scored", "_scored")}
        intervals = {
            group: {
                name: [
                    100 * bound
                    for bound in ratio_interval([row[f"{count}{of}"] for row in some], [row[words] for row in some])
                ]
                for name, count in HEADS.items()
                if self.labelled or name not in LABELLED
            }
            for group, (some, words, of) in counted.items()
            if any(row[words] for row in some)
        }
        return {"title": self.titled(name), **scores, "intervals": intervals}

    @classmethod
    def summary(cls, name: str, content: Content) -> list[Block]:
        blocks: list[Block] = [cls.shares_table(content)]
        if content["nonprojective"]:
            trees = pluralize(content["nonprojective"], "gold tree")
            blocks.append(TextBlock([f"crossing arcs, which the parser does not give, are in {trees}."]))
        return [*blocks, *cls.against(content)]


def counted(gold: DependencyTree, found: Sequence[DependencyTree], labelled: bool) -> Row:
    """What is right in a parser's best tree and, of heads, in the best of its list."""
    best = found[0]
    heads = [ours == theirs for ours, theirs in zip(gold.heads, best.heads, strict=True)]
    labels = [a and b == c for a, b, c in zip(heads, labels_of(gold), labels_of(best), strict=True)]
    counts = [not punctuation for punctuation in is_punctuation(gold)]
    right = [sum(a == b for a, b in zip(gold.heads, one.heads, strict=True)) for one in found]
    return {
        **identity(gold),
        "words": len(gold),
        "scored": sum(counts),
        "heads": sum(heads),
        "labels": sum(labels) if labelled else None,
        "heads_scored": sum(right and counts for right, counts in zip(heads, counts, strict=True)),
        "labels_scored": sum(a and b for a, b in zip(labels, counts, strict=True)) if labelled else None,
        "oracle": max(right),
        "crosses": int(not gold.is_projective),
    }


def parser_scores(rows: Sequence[Row], nbest: int, *, labelled: bool) -> dict[str, Any]:
    """Shares in percent, of all words, without punctuation, by length and of the best trees in the lists."""
    with_words = [row for row in rows if row["scored"]]
    content: dict[str, Any] = {
        "all": attachments(rows, labelled=labelled),
        "without_punctuation": attachments(with_words, "scored", labelled=labelled),
        "by_length": by_length(rows, partial(attachments, labelled=labelled)),
        "nonprojective": sum(row["crosses"] for row in rows),
    }
    if nbest > 1:
        content["oracle"] = {"nbest": nbest, **attachments(rows, heads="oracle", labelled=False)}
    return content


def attachments(
    rows: Sequence[Row], of: str = "words", *, heads: str = "heads", labelled: bool = False
) -> dict[str, Any]:
    """Shares in percent; None where there is nothing to share out."""
    suffix = "_scored" if of == "scored" else ""
    values: dict[str, Any] = {"sentences": len(rows), "words": sum(row[of] for row in rows)}
    for name, count in {"uas": heads, "las": "labels"}.items():
        if labelled or name not in LABELLED:
            values[name] = percent(sum(row[f"{count}{suffix}"] for row in rows), values["words"])
    for name, count in {"exact": heads, "exact_labelled": "labels"}.items():
        if labelled or name not in LABELLED:
            values[name] = percent(sum(row[f"{count}{suffix}"] == row[of] for row in rows), len(rows))
    return values


def labels_of(tree: DependencyTree) -> tuple[str | None, ...]:
    return tree.labels or (None,) * len(tree)


def is_punctuation(tree: DependencyTree) -> list[bool]:
    """Which words the treebank tags PUNCT; none where there are no tags."""
    return [tag == "PUNCT" for tag in tags_of(tree)]
