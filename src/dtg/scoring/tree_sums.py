"""Ways to sum p(x, y) over trees: a model and a sentence, or trees of it, in; a `Marginal` out.

All sums are over distinct trees, by their heads. A tree that arc-swift's limit puts out of reach has probability 0: it is
counted, not summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from math import exp, fsum, inf, isnan, log
from typing import TYPE_CHECKING, Any

from dtg.errors import InputError, TooFarError
from dtg.io.messages import pluralize
from dtg.scoring.estimates import from_independent_draws, from_ordered_draws
from dtg.scoring.marginal import Kind, Marginal
from dtg.scoring.proposal import Draws
from dtg.search.options import BeamOptions
from dtg.transitions.arc_swift import ArcSwift
from dtg.transitions.rules import Derivations
from dtg.trees import DependencyTree
from dtg.trees.enumeration import LONGEST, count_projective, enumerate_projective

if TYPE_CHECKING:
    from dtg.model import DecoderModel

Words = tuple[str, ...]
Scores = dict[tuple[int, ...], float]  # log p(x, y) of each tree, by its heads; minus infinity out of reach


def without_trees(model: DecoderModel, words: Words, constrained: bool | None) -> Marginal:
    """One pass, for families that have no trees. Any tree will do to score, because they do not look at it."""
    score = model.score([DependencyTree(words, (0, *[1] * (len(words) - 1)))], constrained)[0]
    facts = known_facts(model, constrained)
    how = f"one pass, {model.family.name} has no trees"
    return Marginal(log_probability=score, lower_bound=score, kind="exact", how=how, trees=0, **facts)


def exact(model: DecoderModel, words: Words, constrained: bool | None) -> Marginal:
    """The sum over every projective tree, in its canonical derivation."""
    if len(words) > LONGEST:
        raise InputError(
            f"the sentence has {len(words)} words, hence {count_projective(len(words)):,} trees; how='exact' sums over all of"
            f" them for up to {LONGEST} words. Use how='beam' or how='proposal', which give lower bounds."
        )
    scores = score_distinct(
        model, (DependencyTree(words, heads) for heads in enumerate_projective(len(words))), constrained
    )
    how = f"enumeration of all {len(scores):,} trees" if len(scores) > 1 else "there is one tree"
    return summed(scores, kind="exact", how=how, **known_facts(model, constrained))


def by_beam(model: DecoderModel, words: Words, options: BeamOptions) -> Marginal:
    """The sum over the derivations that a word-synchronous search ends with."""
    total, scores = search_trees(model, words, options)
    return Marginal(
        log_probability=total,
        lower_bound=total,
        kind="lower bound",
        how=describe(options),
        trees=len(scores),
        **known_facts(model, options.constrained, options.derivations),
    )


def by_proposal(model: DecoderModel, draws: Draws, constrained: bool | None) -> Marginal:
    """The paper's: the sum over the distinct trees of a proposal."""
    scores = score_distinct(model, draws.trees, constrained)
    count = len(draws.trees)
    how = pluralize(count, "proposal tree")
    return summed(scores, "lower bound", how, draws=count, **known_facts(model, constrained))


def by_estimate(model: DecoderModel, draws: Draws, constrained: bool | None) -> Marginal:
    """The importance-weighted estimate that fits how the trees were drawn; exact, if that has left none undrawn."""
    if reason := why_no_estimate(draws):
        raise InputError(
            f"no estimate can be made from these {len(draws.trees)} trees: {reason}. Use how='proposal', which gives a lower"
            " bound, or a proposal that draws trees and tells their log q."
        )
    assert draws.log_q is not None
    scores = score_distinct(model, draws.trees, constrained)
    if draws.drawn == "without replacement" and len(scores) == count_projective(len(draws.trees[0])):
        how = f"draws without replacement of all {pluralize(len(scores), 'tree')}"
        return summed(scores, "exact", how, draws=len(scores), **known_facts(model, constrained))
    estimator = from_independent_draws if draws.drawn == "independently" else from_ordered_draws
    estimate = estimator([scores[tree.heads] for tree in draws.trees], draws.log_q)
    count = len(draws.trees)
    how = f"{count:,} independent draws" if draws.drawn == "independently" else f"{count:,} draws without replacement"
    return summed(
        scores,
        "estimate",
        how,
        log_probability=estimate.log_probability,
        effective_sample_size=estimate.effective_sample_size,
        standard_error=estimate.standard_error,
        draws=count,
        **known_facts(model, constrained),
    )


def why_no_estimate(draws: Draws) -> str | None:
    """What these draws lack that an estimate needs; None if nothing."""
    if draws.log_q is None:
        return "their log q is not known"
    return "they were not drawn at random" if draws.drawn == "not at random" else None


def combined(model: DecoderModel, words: Words, draws: Draws, options: BeamOptions) -> Marginal:
    """The sum over the union of the beam's trees and a proposal's."""
    _, found = search_trees(model, words, options)
    further = (tree for tree in draws.trees if tree.heads not in found)
    scores = found | score_distinct(model, further, options.constrained)
    how = f"{describe(options)} ({pluralize(len(found), 'tree')}) and {pluralize(len(draws.trees), 'proposal tree')}"
    facts = known_facts(model, options.constrained)
    return summed(scores, "lower bound", how, draws=len(draws.trees), **facts)


def search_trees(model: DecoderModel, words: Words, options: BeamOptions) -> tuple[float, Scores]:
    """log p(x) by a beam, and the distinct trees in it."""
    state = model.begin(**asdict(options))
    for word in words:
        state = state.step(word)
    ending = state.end()
    return ending.log_probability, {found.tree.heads: found.log_probability for found in ending.trees(None)}


def describe(options: BeamOptions) -> str:
    return f"beam {options.beam:,}, word beam {options.words_kept:,}"


def score_distinct(model: DecoderModel, trees: Iterable[DependencyTree], constrained: bool | None) -> Scores:
    """log p(x, y) of each distinct tree of one sentence."""
    distinct = {tree.heads: tree for tree in trees}
    return dict(zip(distinct, score_reachable(model, list(distinct.values()), constrained), strict=True))


def score_reachable(
    model: DecoderModel, trees: Sequence[DependencyTree], constrained: bool | None = None
) -> list[float]:
    """log p(x, y) of each tree, of any sentences: one call, so that trees share what they have in common."""
    within = [place for place, tree in enumerate(trees) if is_reachable(model, tree)]
    scores = [-inf] * len(trees)
    found = model.score([trees[place] for place in within], constrained) if within else []
    for place, score in zip(within, found, strict=True):
        if isnan(score):
            words = " ".join(trees[place].words)
            raise InputError(f"log p(x, y) of {words!r} is not a number. Are the model's weights?")
        scores[place] = score
    return scores


def is_reachable(model: DecoderModel, tree: DependencyTree) -> bool:
    """False where the tree needs an arc beyond arc-swift's limit."""
    system = model.family.system
    if not isinstance(system, ArcSwift) or len(tree) <= system.limit:  # no stack has more items than there are words
        return True
    try:
        system.oracle(tree)
    except TooFarError:
        return False
    return True


def summed(scores: Scores, kind: Kind, how: str, log_probability: float | None = None, **facts: Any) -> Marginal:
    """The sum over the trees; it is the answer, unless the answer is an estimate made from them."""
    total = log_sum([score for score in scores.values() if score > -inf])
    out_of_reach = sum(score == -inf for score in scores.values())
    return Marginal(
        log_probability=total if log_probability is None else log_probability,
        lower_bound=total,
        kind=kind,
        how=how,
        trees=len(scores) - out_of_reach,
        out_of_reach=out_of_reach,
        **facts,
    )


def known_facts(
    model: DecoderModel, constrained: bool | None, derivations: Derivations = "canonical"
) -> dict[str, Any]:
    """What every answer says about the distribution that it is an answer about."""
    system = model.family.system
    return {
        "constrained": model.config.constrained if constrained is None else constrained,
        "derivations": derivations,
        "distance_limit": system.limit if isinstance(system, ArcSwift) else None,
    }


def log_sum(values: list[float]) -> float:
    """log Σ exp, whatever the order of the values."""
    top = max(values, default=-inf)
    return -inf if top == -inf else top + log(fsum(exp(value - top) for value in values))
