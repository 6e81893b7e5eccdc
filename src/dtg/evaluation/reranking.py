"""How good reranked trees are: gold trees and rerankings in, UAS and exact match with intervals out.

Beside the reranked trees stand the proposal's own best tree (a parser's most probable one) and the best that the list could
have given (the oracle, chosen for each measure by itself). Gold trees are taken as they are, crossing arcs included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from dtg.errors import InputError
from dtg.evaluation.bootstrap import ratio_interval
from dtg.evaluation.perplexity_rows import finite
from dtg.parser.evaluation import Attachments, is_punctuation
from dtg.parser.parser import Parser
from dtg.tables.columns import Column, Row
from dtg.text.documents import sentence_id
from dtg.trees import DependencyTree

if TYPE_CHECKING:
    from dtg.scoring.proposal import Proposal
    from dtg.scoring.reranking import Reranking

WHOSE = ("proposal", "reranked", "oracle")
MEANINGS = {
    "sentence_id": "the sentence's number in the file, from 1",
    "sent_id": "its name in the treebank",
    "words": "how many it has",
    "scored": "those that are not tagged PUNCT",
    "proposal": "words with the right head in the proposal's own best tree",
    "reranked": "words with the right head in the tree chosen by the language model",
    "oracle": "words with the right head in the tree of the list that has most of them",
    "proposal_scored": "as proposal, of words that are not tagged PUNCT",
    "reranked_scored": "as reranked, of words that are not tagged PUNCT",
    "oracle_scored": "as oracle, of words that are not tagged PUNCT",
    "crosses": "1 if the gold tree has crossing arcs, which no tree of the list has",
    "trees": "different trees in the list",
    "proposal_rank": "of the chosen tree in the list",
    "log_joint": "log p(words, tree) of the chosen tree, in nats; empty if the model can build none of the list",
    "log_bound": "log of the sum over the list, in nats; empty as log_joint",
}


@dataclass(frozen=True, slots=True)
class RerankedSentence:
    """One sentence's counts, which are a row of a table; MEANINGS says what they are."""

    sentence_id: int
    sent_id: str
    words: int
    scored: int
    proposal: int
    reranked: int
    oracle: int
    proposal_scored: int
    reranked_scored: int
    oracle_scored: int
    crosses: int
    trees: int
    proposal_rank: int
    log_joint: float | None
    log_bound: float | None

    @property
    def row(self) -> Row:
        return astuple(self)


KINDS = {"sent_id": str, "log_joint": float, "log_bound": float}
COLUMNS = tuple(
    Column(field.name, KINDS.get(field.name, int), MEANINGS[field.name]) for field in fields(RerankedSentence)
)


def own_tree(proposal: Proposal, found: Reranking) -> DependencyTree:
    """A parser's most probable tree; of anything else, the tree that it ranks first among those it gave."""
    if isinstance(proposal, Parser):
        return proposal.parse(found.trees[0].tree.words).tree
    first = min(found.trees, key=lambda ranked: ranked.proposal_rank).tree
    assert isinstance(first, DependencyTree)
    return first


def compare(gold: DependencyTree, own: DependencyTree, found: Reranking, weight: float = 0.0) -> RerankedSentence:
    """Count right heads: in the proposal's own tree, in the best by the language model, and in the best possible."""
    assert gold.source is not None
    best = found.best(weight)
    heads = [own.key, best.tree.key, *(ranked.tree.key for ranked in found.trees)]
    right = np.array(heads) == np.array(gold.heads)  # (the proposal's own, the reranked, and the whole list; words)
    counts = ~np.array(is_punctuation(gold))
    everything, scored = right.sum(1).tolist(), right[:, counts].sum(1).tolist()
    return RerankedSentence(
        sentence_id=gold.source.sentence,
        sent_id=sentence_id(gold.source),
        words=len(gold),
        scored=int(counts.sum()),
        proposal=everything[0],
        reranked=everything[1],
        oracle=max(everything[2:]),
        proposal_scored=scored[0],
        reranked_scored=scored[1],
        oracle_scored=max(scored[2:]),
        crosses=int(not gold.is_projective),
        trees=len(found.trees),
        proposal_rank=best.proposal_rank,
        log_joint=finite(best.log_probability),
        log_bound=finite(found.lower_bound),
    )


def summarize(sentences: Iterable[RerankedSentence], seed: int = 0) -> dict[str, Any]:
    """UAS and exact match in percent; the difference that reranking makes, with its 95 % interval over sentences."""
    some = list(sentences)
    if not some:
        raise InputError("there are no sentences to evaluate.")
    return {
        "sentences": len(some),
        "crossing": sum(one.crosses for one in some),
        "trees": sum(one.trees for one in some),
        "all": scores([one.words for one in some], [[getattr(one, who) for one in some] for who in WHOSE], seed),
        "without_punctuation": scores(
            [one.scored for one in some], [[getattr(one, f"{who}_scored") for one in some] for who in WHOSE], seed
        ),
    }


def scores(words: Sequence[int], right: Sequence[Sequence[int]], seed: int) -> dict[str, Any] | None:
    """From the words of each sentence that count and, of each of WHOSE, how many are right; None where no word counts."""
    has_words = np.array(words) > 0
    if not has_words.any():
        return None
    count, correct = np.array(words)[has_words], np.array(right)[:, has_words]
    exact = correct == count
    result: dict[str, Any] = {}
    for who, heads, whole in zip(WHOSE, correct, exact, strict=True):
        found = Attachments(len(count), int(count.sum()), int(heads.sum()), exact=int(whole.sum()))
        result[who] = found.as_dict(labelled=False)
    own, reranked = WHOSE.index("proposal"), WHOSE.index("reranked")
    result["difference"] = {
        "uas": difference(correct[reranked] - correct[own], count, seed),
        "exact": difference(exact[reranked].astype(int) - exact[own], np.ones_like(count), seed),
    }
    return result


def difference(gained: np.ndarray[Any, Any], of: np.ndarray[Any, Any], seed: int) -> dict[str, Any]:
    """In points of a hundred: what reranking gains, and the interval of the paired bootstrap."""
    low, high = ratio_interval(gained, of, seed=seed)
    value = float(gained.sum() / of.sum())
    return {"value": round(100 * value, 2), "interval": [round(100 * low, 2), round(100 * high, 2)]}
