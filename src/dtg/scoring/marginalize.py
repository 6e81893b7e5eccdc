"""What is known about log p(x) of a sentence: a model and a sentence in, a `Marginal` out, by the way that was asked for.

- `exact`: every projective tree, for short sentences; the yardstick.
- `beam`: the trees that the search ends with; a lower bound.
- `proposal`: the paper's, trees from a list or a parser; a lower bound.
- `estimate`: the trees that a proposal drew, weighted by their probabilities; right on average, not a bound.
- `combined`: the trees of the beam and of a proposal, each counted once; a lower bound, and tighter than either.

Families without trees need one pass, and the answer is exact whatever was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from dtg.errors import InputError
from dtg.io.settings import check_choice
from dtg.scoring import tree_sums
from dtg.scoring.marginal import Marginal
from dtg.scoring.proposal import Proposal, draw
from dtg.search.options import BeamOptions
from dtg.text.sentence import Sentence
from dtg.transitions.rules import Derivations
from dtg.transitions.words import Words
from dtg.trees import DependencyTree

if TYPE_CHECKING:
    import torch

    from dtg.model import DecoderModel

How = Literal["auto", "exact", "beam", "proposal", "estimate", "combined"]
AUTO_LONGEST = 6  # 728 trees: a second for a small model


def marginalize(
    model: DecoderModel,
    sentence: str | Sequence[str],
    how: How = "auto",
    *,
    beam: int = 300,
    proposal: Proposal | Sequence[DependencyTree] | None = None,
    trees: int = 300,
    generator: torch.Generator | None = None,
    constrained: bool | None = None,
    derivations: Derivations = "canonical",
    **search: Any,
) -> Marginal:
    """log p(x) of a text, which is split into words, or of words taken as they are.

    `auto` sums over the proposal if there is one; otherwise it is exact up to 6 words, and a beam from there on.
    `proposal` is a list of trees, all of which are used, or draws as many as `trees` says, with `generator` (seed 0 if there
    is none). `beam` and `search` are options of the search, where there is one.
    """
    check_choice("how", how, get_args(How))
    options = BeamOptions.of(beam=beam, derivations=derivations, constrained=constrained, **search)
    words = (Sentence.of_text(sentence) if isinstance(sentence, str) else Sentence.of_words(sentence)).words
    if isinstance(model.family.system, Words):
        return tree_sums.without_trees(model, words, constrained)
    if how == "auto":
        how = choose(len(words), proposal is not None, derivations)
    else:
        check_search(how, search)
    check_needs(how, proposal is not None, derivations)
    if how == "exact":
        return tree_sums.exact(model, words, constrained)
    if how == "beam":
        return tree_sums.by_beam(model, words, options)
    assert proposal is not None
    draws = draw(proposal, words, trees, generator)
    if how == "proposal":
        return tree_sums.by_proposal(model, draws, constrained)
    if how == "estimate":
        return tree_sums.by_estimate(model, draws, constrained)
    return tree_sums.combined(model, words, draws, options)


def choose(words: int, proposal: bool, derivations: Derivations) -> How:
    """What `auto` means."""
    if proposal:
        return "proposal"
    return "exact" if words <= AUTO_LONGEST and derivations == "canonical" else "beam"


def check_search(how: How, search: Mapping[str, Any]) -> None:
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
