"""Reranking as a task: of the trees that a parser draws, how good is the one that a language model finds most probable?

Beside the reranked trees stand the proposal's own best tree (a parser's most probable one) and the best that the list could
have given (the oracle, chosen for each measure by itself). Gold trees are taken as they are, crossing arcs included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from dtg.errors import InputError
from dtg.evaluation.contract import Content, Interval, Metric, Row
from dtg.evaluation.rendering import Block, Heading, TextBlock, pluralize
from dtg.evaluation.tasks.gold import GoldTask, ticket
from dtg.evaluation.tasks.parsing import GoldDependencies, is_punctuation
from dtg.evaluation.tasks.reranking_scores import (
    MEASURES,
    PARTS,
    WHOSE,
    count_right,
    crossing,
    measures_table,
    summarize,
)
from dtg.evaluation.tasks.selection import choose, content_hash, details
from dtg.language_model import LanguageModel
from dtg.named_proposal import NamedProposal
from dtg.parser.parser import Parser
from dtg.proposals.projected import ProjectedProposal
from dtg.scoring.proposal import Proposal
from dtg.scoring.reranking import Reranking, check_has_trees
from dtg.tables.columns import Column
from dtg.trees import DependencyTree, TreebankReport, read_conllu
from dtg.trees.conllu import Roots
from dtg.trees.kinds import CONSTITUENCY, DEPENDENCY
from dtg.trees.phrases.projection import PhraseLabels

EXPLAINED = (
    "Proposal: the parser's own best tree. Reranked: of the trees drawn from it, the one with the highest log p(words, tree). "
    "Oracle: the best of the trees drawn, for each measure by itself.",
    "UAS: the share of words with the right head; exact: of sentences with all heads right; both in percent. The interval is "
    "that of the paired bootstrap over sentences.",
)
SEEDS = "The interval leaves out the variance between seeds."


class RerankingTask(GoldTask, Protocol):
    """What tasks of reranking share: where the trees come from, and what decides their numbers."""

    source: Path
    gold: tuple[Any, ...]
    proposal: NamedProposal
    trees: int
    weight: float
    limit: int | None
    sample: int | None
    seed: int
    constrained: bool
    unit: ClassVar[str]  # what the first measure is a share of: words or brackets
    measures: ClassVar[Mapping[str, str]]
    parts: ClassVar[Mapping[str, str]]  # of results.json, with the groups of words that they are of

    @property
    def data(self) -> str:
        return str(self.source)

    def items(self) -> list[list[Any]]:
        return [[tree] for tree in self.gold]  # each by itself: a model is given the trees of one at a time

    def settings(self) -> dict[str, Any]:
        return {
            **({"limit": self.limit} if self.limit else {"sample": self.sample} if self.sample else {}),
            "seed": self.seed,
            "trees": self.trees,
            "proposal": self.proposal.sha256,
            "weight": self.weight,
            "constrained": self.constrained,
        }

    def given(self) -> dict[str, Any]:
        return {"proposal": self.proposal.name}

    def remarks(self) -> list[str]:
        return super().remarks() + self.proposal.changes()

    def described(self, name: str, explained: Sequence[str], found: Content) -> Content:
        """The numbers, with a title and what has to be said about them."""
        trees = found["trees"] / found["sentences"]
        counts = f"{pluralize(found['sentences'], 'sentence')}, {trees:.1f} trees per sentence"
        weighted = [f"weight: log q of the proposal counts {self.weight:g} beside log p."] if self.weight else []
        notes = [*explained, *details(self.settings(), self.proposal.name), *weighted]
        return {"title": f"Reranking by {name} on {self.source.name}: {counts}", "notes": notes, **found}

    @classmethod
    def metrics(cls, content: Content) -> list[Metric]:
        found = []
        for part, group in cls.parts.items():
            one = content[part]
            if one is None:
                continue
            n = {name: one["proposal"]["sentences" if name == "exact" else cls.unit] for name in cls.measures}
            for who in WHOSE:
                values = {name: Interval(one[who][name], nan, nan) for name in cls.measures}
                found += [Metric(group, name, value, n[name], rule=who) for name, value in values.items()]
            gained = {name: Interval.of(one["difference"][name], "value") for name in cls.measures}
            found += [Metric(group, name, value, n[name], rule="difference") for name, value in gained.items()]
        return found

    @classmethod
    def page(cls, name: str, content: Content) -> list[Block]:
        table = measures_table(content, cls.measures, cls.parts)
        return [Heading(content["title"]), table, TextBlock(content["notes"], is_list=True)]

    @classmethod
    def summary(cls, name: str, content: Content) -> list[Block]:
        counts = content["title"].rpartition(": ")[2]
        table = measures_table(content, cls.measures, cls.parts)
        return [TextBlock([counts]), table, TextBlock(cls.told(content)), *cls.against(content)]

    @classmethod
    def told(cls, content: Content) -> list[str]:
        """What a reader of the summary has to know."""
        ...


@dataclass(frozen=True)
class RerankedTrees(RerankingTask, GoldDependencies):
    """Gold trees, and who proposes trees of their words. `RerankedTrees.of` reads them."""

    name: ClassVar[str] = "rerank"
    table: ClassVar[str] = "sentences.csv"
    right: ClassVar[str] = "reranked"
    unit: ClassVar[str] = "words"
    measures: ClassVar[Mapping[str, str]] = MEASURES
    parts: ClassVar[Mapping[str, str]] = PARTS
    columns: ClassVar[Sequence[Column]] = (
        Column("sentence_id", int, "the sentence's number in the file, from 1"),
        Column("sent_id", str, "its name in the treebank"),
        Column("words", int, "how many it has"),
        Column("scored", int, "those that are not tagged PUNCT"),
        Column("proposal", int, "words with the right head in the proposal's own best tree"),
        Column("reranked", int, "words with the right head in the tree chosen by the language model"),
        Column("oracle", int, "words with the right head in the tree of the list that has most of them"),
        Column("proposal_scored", int, "as proposal, of words that are not tagged PUNCT"),
        Column("reranked_scored", int, "as reranked, of words that are not tagged PUNCT"),
        Column("oracle_scored", int, "as oracle, of words that are not tagged PUNCT"),
        Column("crosses", int, "1 if the gold tree has crossing arcs, which no tree of the list has"),
        Column("trees", int, "different trees in the list"),
        Column("proposal_rank", int, "of the chosen tree in the list"),
        Column("log_joint", float, "log p(words, tree) of the chosen tree, in nats; empty if the model can build none"),
        Column("log_bound", float, "log of the sum over the list, in nats; empty as log_joint"),
    )

    source: Path
    gold: tuple[DependencyTree, ...]
    proposal: NamedProposal
    trees: int = 300
    weight: float = 0.0
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    constrained: bool = True
    project: PhraseLabels | None = None
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
        roots: Roots = "error",
        skip_invalid: bool = False,
        project: PhraseLabels | None = None,
        device: str = "auto",
    ) -> Self:
        """Gold trees of a treebank.

        Args:
            source: a file (.conllu, .conll, .gz).
            proposal: who proposes trees, as `NamedProposal.of` takes it; the bundled parser by default.
            trees: how many trees of a sentence are drawn.
            weight: how much the proposal's own log-probability of a tree counts.
            limit, sample, seed: the first sentences, or some at random; and which trees are drawn.
            roots, skip_invalid: what happens to trees of several roots, and to what cannot be read (see `read_conllu`).
            project: "head", for a model of phrases that dependencies were projected to with these labels; the trees that it
                chooses are compared as dependencies.
            device: where a parser computes.
        """
        if project not in (None, "head"):
            raise InputError(
                f"phrases with labels {project!r} do not say which dependencies they are; those with labels 'head' do, and can "
                "be compared with a treebank of dependencies."
            )
        report = TreebankReport()
        every = read_conllu(source, roots=roots, skip_invalid=skip_invalid, report=report)
        gold = choose(every, lambda tree: ticket(tree, seed), limit=limit, sample=sample)
        if not gold:
            raise InputError(f"{source} has no sentences.")
        named = proposal if isinstance(proposal, NamedProposal) else NamedProposal.of(proposal, device, project)
        return cls(source, tuple(gold), named, trees, weight, limit, sample, seed, project=project, report=report)

    @cached_property
    def data_sha256(self) -> str:
        """Of the sentences, their right heads, and which words are punctuation."""
        return content_hash(
            [[tree.source and tree.source.sentence, tree.words, tree.heads, is_punctuation(tree)] for tree in self.gold]
        )

    def for_model(self, model: LanguageModel) -> Self:
        check_has_trees(model)
        wanted = DEPENDENCY if self.project is None else CONSTITUENCY
        kind = model.family.system.kind
        if kind is not None and kind is not wanted:
            raise InputError(
                f"{model.name} ({model.family.name}) is a model of {kind.name} trees, and here it is given {wanted.name} "
                "trees. Gold trees in brackets are for models of phrases, and so are dependencies projected with labels "
                "'head', unless the model's trees are binary."
            )
        return replace(self, constrained=model.config.constrained)

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), **({} if self.project is None else {"project": self.project})}

    def measure(self, model: LanguageModel, items: Sequence[DependencyTree]) -> list[Row]:
        rows = []
        for tree in items:
            found = model.rerank(tree.words, self.proposal.proposal, self.trees, seed=self.seed)
            own = own_tree(self.proposal.proposal, found)
            if self.project is not None:
                found = as_dependencies(found)
            rows.append(count_right(tree, own, found, self.weight))
        return rows

    def summarize(self, rows: Sequence[Row], name: str) -> Content:
        found = summarize(rows, self.seed)
        return self.described(name, [*EXPLAINED, SEEDS, *crossing(found)], found)

    @classmethod
    def told(cls, content: Content) -> list[str]:
        return crossing(content)


def own_tree(proposal: Proposal, found: Reranking) -> Any:
    """A parser's most probable tree; of anything else, the tree that it ranks first among those it gave."""
    if isinstance(proposal, ProjectedProposal):
        if isinstance(proposal.proposal, Parser):
            return proposal.proposal.parse(found.trees[0].tree.words).tree
        return own_tree(proposal.proposal, as_dependencies(found))
    if isinstance(proposal, Parser):
        return proposal.parse(found.trees[0].tree.words).tree
    return min(found.trees, key=lambda ranked: ranked.proposal_rank).tree


def as_dependencies(found: Reranking) -> Reranking:
    """The same trees, of which each was made of dependencies with labels "head", as these."""
    return replace(found, trees=tuple(replace(one, tree=one.tree.to_dependencies()) for one in found.trees))
