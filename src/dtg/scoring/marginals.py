"""What is known about log p(x) of a sentence, by the way that is asked for.

- `exact`: every tree, for short sentences; the yardstick.
- `beam`: the trees that the search ends with; a lower bound.
- `proposal`: the paper's, trees from a list or a parser; a lower bound.
- `estimate`: the trees that a proposal drew, weighted by their probabilities; right on average, not a bound.
- `combined`: the trees of the beam and of a proposal, each counted once; a lower bound, and tighter than either.

Families without trees need one pass, and the answer is exact whatever was asked for. All sums are over distinct trees, by
their `key`. A tree that the system's limits put out of reach has probability 0: it is counted, not summed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import exp, fsum, inf, log
from typing import Any, Literal, get_args

import torch

from dtg.errors import InputError
from dtg.io.messages import pluralize
from dtg.io.settings import PositiveInt, check_choice, check_value
from dtg.model.model import DecoderModel
from dtg.scoring.estimates import from_independent_draws, from_ordered_draws
from dtg.scoring.marginal import Kind, Marginal
from dtg.scoring.proposal import Draws, Proposal, draw
from dtg.scoring.surprisals import read_in_one_pass
from dtg.scoring.tree_scores import score_reachable
from dtg.search.beam_search import BeamSearch
from dtg.search.options import BeamOptions
from dtg.search.state import BeamState
from dtg.text.sentence import GivenSentence, as_sentence
from dtg.transitions.rules import Derivations
from dtg.trees.kinds import CONSTITUENCY, Tree
from dtg.trees.phrases.constituency import ConstituencyTree

How = Literal["auto", "exact", "beam", "proposal", "estimate", "combined"]
AUTO_TREES = 728  # "auto" sums over all trees up to this many: those of six words, a second for a small model
MOST_TREES = 25_000  # "exact" sums over no more, which eight words have
Words = tuple[str, ...]
Scores = dict[Hashable, float]  # log p(x, y) of each tree, by its key; minus infinity out of reach


def marginalize(
    model: DecoderModel,
    sentence: GivenSentence,
    how: How,
    options: BeamOptions,
    *,
    proposal: Proposal | Sequence[Tree] | None = None,
    trees: int = 300,
    generator: torch.Generator | None = None,
    search_was_set: Sequence[str] = (),
) -> Marginal:
    """log p(x); see `LanguageModel.marginal`. `search_was_set` names the options of the search that the caller has set."""
    check_choice("how", how, get_args(How))
    check_value("trees", trees, PositiveInt)
    words = as_sentence(sentence).words
    if not model.has_trees:
        return without_trees(model, words, options)
    if how == "auto":
        few = model.family.system.count_trees(len(words)) <= AUTO_TREES
        how = choose(few, proposal is not None, options.derivations)
    else:
        check_search(how, search_was_set)
    check_needs(how, proposal is not None, options.derivations)
    if how == "exact":
        return exact(model, words, options)
    if how == "beam":
        return by_beam(model, words, options)
    assert proposal is not None
    draws = draw(proposal, words, trees, generator, model.family.system.kind)
    system = model.family.system
    for tree in draws.trees:
        # Phrases out of reach are counted; trees of another kind are an error.
        if not isinstance(tree, ConstituencyTree) or system.kind is not CONSTITUENCY or system.reaches(tree):
            system.check(tree)
    return combined(model, words, draws, options) if how == "combined" else from_draws(model, draws, how, options)


def from_draws(model: DecoderModel, draws: Draws, how: How, options: BeamOptions) -> Marginal:
    """What trees that were drawn say: a lower bound ("proposal") or an estimate ("estimate")."""
    return by_estimate(model, draws, options) if how == "estimate" else by_proposal(model, draws, options)


def choose(few_trees: bool, proposal: bool, derivations: Derivations) -> How:
    """What `auto` means."""
    if proposal:
        return "proposal"
    return "exact" if few_trees and derivations == "canonical" else "beam"


def check_search(how: How, search: Sequence[str]) -> None:
    """Raise if options were given for a search that does not take place."""
    if search and how not in ("beam", "combined"):
        raise InputError(
            f"how={how!r} does not search; {', '.join(search)} can be used with how='beam' or how='combined'."
        )


def check_needs(how: How, proposal: bool, derivations: Derivations) -> None:
    """Raise if a proposal is missing, or would not be looked at, or if the sum cannot be over all derivations."""
    if derivations == "all" and how != "beam":
        raise InputError(
            f"how={how!r} sums the one canonical derivation of each tree; derivations='all' can be used with how='beam'."
        )
    if proposal and how in ("exact", "beam"):
        raise InputError(f"how={how!r} uses no proposal. Leave it out, or use how='proposal' or how='combined'.")
    if not proposal and how in ("proposal", "estimate", "combined"):
        raise InputError(f"how={how!r} needs a proposal: a list of trees, or an object with a method propose.")


def without_trees(model: DecoderModel, words: Words, options: BeamOptions) -> Marginal:
    """One pass, for families that have no trees."""
    pieces = model.require_tokenizer().encode_sentence(words)
    score = next(read_in_one_pass(model, [pieces], model.is_constrained(options.constrained))).log_probability
    how = f"one pass, {model.family.name} has no trees"
    facts = known_facts(model, options.constrained)
    return Marginal(log_probability=score, lower_bound=score, kind="exact", how=how, trees=0, **facts)


def exact(model: DecoderModel, words: Words, options: BeamOptions) -> Marginal:
    """The sum over every tree, in its canonical derivation."""
    system = model.family.system
    count = system.count_trees(len(words))
    if count > MOST_TREES:
        raise InputError(
            f"the sentence has {len(words)} words, hence {count:,} trees; how='exact' sums over up to {MOST_TREES:,}."
            " Use how='beam' or how='proposal', which give lower bounds."
        )
    scores = score_distinct(model, system.trees(words), options.constrained)
    how = f"enumeration of all {len(scores):,} trees" if len(scores) > 1 else "there is one tree"
    return summed(scores, kind="exact", how=how, **known_facts(model, options.constrained))


def by_beam(model: DecoderModel, words: Words, options: BeamOptions) -> Marginal:
    """The sum over the derivations that a word-synchronous search ends with."""
    total, scores = search_trees(model, words, options)
    return Marginal(
        log_probability=total,
        lower_bound=total,
        kind="lower bound",
        how=options.title,
        trees=len(scores),
        **known_facts(model, options.constrained, options.derivations),
    )


def by_proposal(model: DecoderModel, draws: Draws, options: BeamOptions) -> Marginal:
    """The paper's: the sum over the distinct trees of a proposal."""
    scores = score_distinct(model, draws.trees, options.constrained)
    count = len(draws.trees)
    how = pluralize(count, "proposal tree")
    return summed(scores, "lower bound", how, draws=count, **known_facts(model, options.constrained))


def by_estimate(model: DecoderModel, draws: Draws, options: BeamOptions) -> Marginal:
    """The importance-weighted estimate that fits how the trees were drawn; exact, if that has left none undrawn."""
    if reason := why_no_estimate(draws):
        raise InputError(
            f"no estimate can be made from these {len(draws.trees)} trees: {reason}. Use how='proposal', which gives a lower"
            " bound, or a proposal that draws trees and tells their log q."
        )
    assert draws.log_q is not None
    scores = score_distinct(model, draws.trees, options.constrained)
    if draws.drawn == "without replacement" and len(scores) == model.family.system.count_trees(len(draws.trees[0])):
        how = f"draws without replacement of all {pluralize(len(scores), 'tree')}"
        return summed(scores, "exact", how, draws=len(scores), **known_facts(model, options.constrained))
    estimator = from_independent_draws if draws.drawn == "independently" else from_ordered_draws
    estimate = estimator([scores[tree.key] for tree in draws.trees], draws.log_q)
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
        **known_facts(model, options.constrained),
    )


def why_no_estimate(draws: Draws) -> str | None:
    """What these draws lack that an estimate needs; None if nothing."""
    if draws.log_q is None:
        return "their log q is not known"
    return "they were not drawn at random" if draws.drawn == "not at random" else None


def combined(model: DecoderModel, words: Words, draws: Draws, options: BeamOptions) -> Marginal:
    """The sum over the union of the beam's trees and a proposal's."""
    _, found = search_trees(model, words, options)
    further = (tree for tree in draws.trees if tree.key not in found)
    scores = found | score_distinct(model, further, options.constrained)
    how = f"{options.title} ({pluralize(len(found), 'tree')}) and {pluralize(len(draws.trees), 'proposal tree')}"
    facts = known_facts(model, options.constrained)
    return summed(scores, "lower bound", how, draws=len(draws.trees), **facts)


def search_trees(model: DecoderModel, words: Words, options: BeamOptions) -> tuple[float, Scores]:
    """log p(x) by a beam, and the distinct trees in it."""
    search = BeamSearch(model, options)
    state = BeamState(search, search.begin())
    for word in words:
        state = state.step(word)
    ending = state.end()
    return ending.log_probability, {found.tree.key: found.log_probability for found in ending.trees(None)}


def score_distinct(model: DecoderModel, trees: Iterable[Tree], constrained: bool | None) -> Scores:
    """log p(x, y) of each distinct tree of one sentence."""
    distinct = {tree.key: tree for tree in trees}
    return dict(zip(distinct, score_reachable(model, list(distinct.values()), constrained), strict=True))


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
    return {
        "constrained": model.is_constrained(constrained),
        "derivations": derivations,
        "distance_limit": model.family.system.limits.get("distance_limit"),
    }


def log_sum(values: list[float]) -> float:
    """log Σ exp, whatever the order of the values."""
    top = max(values, default=-inf)
    return -inf if top == -inf else top + log(fsum(exp(value - top) for value in values))
