"""Reranking of phrases as a task: labelled brackets of the trees that a language model chooses, beside the proposal's own best.

As `reranking`, with F1 (see `brackets`) in place of heads. A model of binary trees (Pushdown) chooses among binary trees
without labels: then the gold tree is binarised in the same way, and F1 is that of spans without labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from dtg.errors import InputError
from dtg.evaluation.contract import Content, Row
from dtg.evaluation.tasks.brackets import PhraseTree, match_brackets, words_that_count
from dtg.evaluation.tasks.gold import identity
from dtg.evaluation.tasks.phrase_parsing import IGNORED, GoldPhrases, bracket_scores, difference_of_ratios, read_gold
from dtg.evaluation.tasks.reranking import SEEDS, RerankingTask, own_tree
from dtg.evaluation.tasks.reranking_scores import WHOSE, chosen
from dtg.evaluation.tasks.selection import content_hash
from dtg.language_model import LanguageModel
from dtg.named_proposal import NamedProposal
from dtg.scoring.proposal import Proposal
from dtg.scoring.reranking import Reranking, check_has_trees
from dtg.tables.columns import Column
from dtg.trees import BracketReading, ConstituencyTree, TreebankReport
from dtg.trees.kinds import BINARY, DEPENDENCY, TreeKind
from dtg.trees.reading import as_kind

EXPLAINED = (
    "Proposal: the parser's own best tree. Reranked: of the trees drawn from it, the one with the highest log p(words, tree). "
    "Oracle: of the trees drawn, that with the highest F1. The interval is that of the paired bootstrap over sentences."
)
BINARISED = (
    "The model has binary trees without labels: gold trees are binarised as its are, and F1 is of spans without labels."
)


@dataclass(frozen=True)
class RerankedPhrases(RerankingTask, GoldPhrases):
    """Gold trees, and who proposes trees of their words. `RerankedPhrases.of` reads them."""

    name: ClassVar[str] = "rerank-phrases"
    table: ClassVar[str] = "sentences.csv"
    matched: ClassVar[str] = "reranked_matched"
    found: ClassVar[str] = "reranked_found"
    unit: ClassVar[str] = "brackets"
    measures: ClassVar[Mapping[str, str]] = {"f1": "F1", "exact": "exact"}
    parts: ClassVar[Mapping[str, str]] = {"all": "all words"}
    columns: ClassVar[Sequence[Column]] = (
        Column("sentence_id", int, "the sentence's number in the file, from 1"),
        Column("sent_id", str, "its file and number"),
        Column("words", int, "how many it has"),
        Column("scored", int, "those that are not punctuation"),
        Column("gold", int, "brackets of the gold tree"),
        Column("proposal_found", int, "brackets of the proposal's own best tree"),
        Column("proposal_matched", int, "those of them that the gold tree has"),
        Column("reranked_found", int, "brackets of the tree chosen by the language model"),
        Column("reranked_matched", int, "those of them that the gold tree has"),
        Column("oracle_found", int, "brackets of the tree of the list with the highest F1"),
        Column("oracle_matched", int, "those of them that the gold tree has"),
        Column("trees", int, "different trees in the list"),
        Column("proposal_rank", int, "of the chosen tree in the list"),
        Column("log_joint", float, "log p(words, tree) of the chosen tree, in nats; empty if the model can build none"),
        Column("log_bound", float, "log of the sum over the list, in nats; empty as log_joint"),
    )

    source: Path
    gold: tuple[ConstituencyTree, ...]
    proposal: NamedProposal
    trees: int = 300
    weight: float = 0.0
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    constrained: bool = True
    kind: TreeKind | None = None
    report: TreebankReport = field(default_factory=TreebankReport, compare=False)

    @classmethod
    def of(
        cls,
        source: Path,
        *,
        proposal: Proposal | NamedProposal | str | Path | None = None,
        trees: int = 300,
        weight: float = 0.0,
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
        reading: BracketReading | None = None,
        device: str = "auto",
    ) -> Self:
        """Gold trees of a treebank in brackets.

        Args:
            source: a file (.ptb, .mrg, .brackets, .gz, .xz).
            proposal: who proposes phrases, as `NamedProposal.of` takes it: a constituency parser or a file in brackets.
            trees: how many trees of a sentence are drawn.
            weight: how much the proposal's own log-probability of a tree counts.
            limit, sample, seed: the first sentences, or some at random; and which trees are drawn.
            reading: what happens to traces, functions and unary chains, and to what cannot be read.
            device: where a parser computes.
        """
        if proposal is None:
            raise InputError(
                f"{source} holds phrases, and the bundled parser gives dependencies. Say who proposes phrases: a constituency "
                "parser, or a file of trees in brackets."
            )
        gold, report = read_gold([source], reading or BracketReading(), limit, sample, seed)
        named = proposal if isinstance(proposal, NamedProposal) else NamedProposal.of(proposal, device)
        return cls(source, gold, named, trees, weight, limit, sample, seed, report=report)

    @cached_property
    def data_sha256(self) -> str:
        return content_hash(
            [[tree.source and tree.source.sentence, tree.words, tree.key, tree.tags] for tree in self.gold]
        )

    def for_model(self, model: LanguageModel) -> Self:
        check_has_trees(model)
        kind = model.family.system.kind
        if kind is DEPENDENCY:
            raise InputError(
                f"{self.data} holds phrases, and {model.name} is a model of dependencies; name a CoNLL-U file."
            )
        return replace(self, constrained=model.config.constrained, kind=kind)

    def measure(self, model: LanguageModel, items: Sequence[ConstituencyTree]) -> list[Row]:
        rows = []
        for tree in items:
            found = model.rerank(tree.words, self.proposal.proposal, self.trees, seed=self.seed)
            own = as_kind(own_tree(self.proposal.proposal, found), self.kind)
            rows.append(count_brackets(tree, own, found, self.weight, self.kind))
        return rows

    def summarize(self, rows: Sequence[Row], name: str) -> Content:
        content: dict[str, Any] = {"sentences": len(rows), "trees": sum(row["trees"] for row in rows)}
        content["all"] = {who: bracket_scores(rows, f"{who}_matched", f"{who}_found") for who in WHOSE}
        content["all"]["difference"] = differences(rows, self.seed)
        binary = [BINARISED] if self.kind is BINARY else []
        return self.described(name, [EXPLAINED, IGNORED, *binary, SEEDS], content)

    @classmethod
    def told(cls, content: Content) -> list[str]:
        return [BINARISED] if BINARISED in content["notes"] else []


def count_brackets(gold: ConstituencyTree, own: Any, found: Reranking, weight: float, kind: TreeKind | None) -> Row:
    """Count right brackets: in the proposal's own tree, in the best by the language model, and in the best possible."""
    counts, best = words_that_count(gold), found.best(weight)
    right: PhraseTree = gold.binarize() if kind is BINARY else gold
    matches = {"proposal": match_brackets(right, own, counts), "reranked": match_brackets(right, best.tree, counts)}
    every = (match_brackets(right, ranked.tree, counts) for ranked in found.trees)
    matches["oracle"] = max(every, key=lambda match: match.f1)
    numbers = {f"{who}_{name}": getattr(match, name) for who, match in matches.items() for name in ("found", "matched")}
    return {
        **identity(gold),
        "words": len(gold),
        "scored": sum(counts),
        "gold": matches["proposal"].gold,
        **numbers,
        **chosen(found, best),
    }


def differences(rows: Sequence[Row], seed: int) -> dict[str, Any]:
    """What reranking gains over the proposal's own tree."""
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0] if name.startswith(("gold", *WHOSE))}

    def counts(who: str) -> tuple[Any, Any]:
        return 2 * columns[f"{who}_matched"], columns["gold"] + columns[f"{who}_found"]

    def exact(who: str) -> tuple[Any, Any]:
        is_right = (columns[f"{who}_matched"] == columns[f"{who}_found"]) & (
            columns[f"{who}_matched"] == columns["gold"]
        )
        return is_right, np.ones(len(rows))

    return {
        name: difference_of_ratios(of("reranked"), of("proposal"), seed)
        for name, of in (("f1", counts), ("exact", exact))
    }
