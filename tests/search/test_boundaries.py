"""`boundary="own"`: sums against what any word may follow with, against a derivation written down, and telescoping."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from dtg.errors import InputError, UnknownNameError
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel
from dtg.model.heads import FactoredHead
from dtg.scoring.surprisals import search_sentences
from dtg.search.beam_search import BeamSearch
from dtg.search.options import BeamOptions
from dtg.search.prefix_trie import search_all
from tests.dependency import DEPENDENCY_FAMILIES
from tests.model.test_model import tiny as tiny_arcs
from tests.phrase_twins import PHRASE_FAMILIES
from tests.search.brute import log_sum
from tests.search.test_beam_search import states
from tests.search.test_phrase_search import small

EVERYTHING: dict[str, Any] = {"beam": 20_000, "word_beam": 20_000}
STARTS = range(8)  # subwords that begin a word, in tiny models
FAMILIES = [*DEPENDENCY_FAMILIES, *PHRASE_FAMILIES]
PIECES = [[1], [2, 9], [3]]


def tiny(family: str, head: str = "factored", seed: int = 0) -> DecoderModel:
    if family in DEPENDENCY_FAMILIES:
        return tiny_arcs(family, seed=seed, head=head)
    limits = {"labels": ("A", "B"), "max_open": 2, "max_chain": 1}
    return small(family, seed, limits, **({} if family == "pushdown" else {"head": head}))


@pytest.mark.parametrize(
    ("family", "head"), [*((family, "factored") for family in FAMILIES), ("dtg", "joint"), ("tg", "joint")]
)
def test_a_whole_word_is_followed_by_a_word_or_the_end(family: str, head: str) -> None:
    """p(words, the last one over) is the sum of p(words and then a word that begins with a) over all a, and p(sentence).

    The right side is made of numbers of boundary="next", which brute force checks.
    """
    model = tiny(family, head)
    for number in range(1, len(PIECES) + 1):
        own = states(model, PIECES[:number], boundary="own", **EVERYTHING)[-1]
        before = states(model, PIECES[:number], **EVERYTHING)[-1]
        follows = [before.step_ids([piece]).log_probability for piece in STARTS]
        expected = log_sum([*follows, before.end().log_probability])
        assert own.log_probability == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("constrained", [True, False])
def test_surprisals_sum_to_the_sentence(family: str, constrained: bool) -> None:
    model = tiny(family, seed=3)
    for limits in (EVERYTHING, {"beam": 9, "word_beam": 3}):
        options = {**limits, "constrained": constrained}
        own, following = (states(model, PIECES, boundary=boundary, **options) for boundary in ("own", "next"))
        end = own[-1].end()
        assert end.log_probability == following[-1].end().log_probability  # nothing that is searched changes
        total = sum(state.surprisal for state in own) + end.surprisal
        assert total == pytest.approx(-end.log_probability, rel=1e-12)
        for ours, theirs in zip(own[1:], following[1:], strict=True):
            assert ours.lexical + ours.structural == pytest.approx(ours.surprisal, rel=1e-9, abs=1e-12)
            assert ours.kept == theirs.kept
            assert ours.log_probability <= theirs.log_probability
            assert sum(tree.probability for tree in ours.trees(None)) == pytest.approx(1.0)
            if limits is EVERYTHING and constrained:
                assert ours.lexical >= 0.0 and ours.structural >= -1e-12


def test_the_end_of_a_word_is_part_of_its_surprisal() -> None:
    """One word, by hand: it is over unless the last row generates a subword that continues it."""
    model = tiny("txl-tokens")
    state = states(model, [[1, 9]], boundary="own", **EVERYTHING)[-1]
    before = states(model, [[1, 9]], **EVERYTHING)[-1]
    goes_on = [states(model, [[1, 9, piece]], **EVERYTHING)[-1].log_probability for piece in range(8, 12)]
    continued = math.exp(log_sum(goes_on) - before.log_probability)
    assert state.surprisal == pytest.approx(before.surprisal - math.log(1 - continued), rel=1e-10)


@pytest.mark.parametrize("subwords", [1, 2, 3])
def test_pushdown_sums_over_attachments(subwords: int) -> None:
    """By hand: a word goes on if its subword stays alone and another that continues it is generated."""
    model = tiny("pushdown")
    words = [[1], [2], [3, 9, 10][:subwords]]
    before = states(model, words, **EVERYTHING)[-1]
    own = states(model, words, boundary="own", **EVERYTHING)[-1]
    goes_on = [
        states(model, [*words[:-1], [*words[-1], piece]], **EVERYTHING)[-1].log_probability for piece in range(8, 12)
    ]
    expected = math.log(math.exp(before.log_probability) - math.exp(log_sum(goes_on)))
    assert own.log_probability == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("family", ["dtg", "txl-tokens", "tg", "pushdown"])
def test_many_sentences_together(family: str) -> None:
    model = tiny(family)
    sentences = [tuple(map(tuple, words)) for words in (PIECES, PIECES[:2], [[1], [4], [5, 8, 9]], [[6]])]
    search = BeamSearch(model, BeamOptions(beam=8, word_beam=4, boundary="own"))
    together = list(search_sentences(search, sentences, ends=True))
    for words, found in zip(sentences, together, strict=True):
        (alone,) = search_all(search, [words])
        np.testing.assert_allclose(found.words, alone.words, rtol=1e-9, atol=1e-12)
        surprisals = [word[1] for word in found.words]
        assert sum(surprisals) + found.words[-1][0] - found.log_probability == pytest.approx(-found.log_probability)


def test_a_model_without_a_tokenizer_is_refused() -> None:
    model = tiny_arcs("dtg", words_start=False)
    with pytest.raises(InputError, match="which subwords begin a word"):
        LanguageModel(model).begin(boundary="own")
    with pytest.raises(UnknownNameError, match="Known: next, own"):
        LanguageModel(model).begin(boundary="both")  # type: ignore[arg-type]


def test_certain_continuations_are_not_infinite() -> None:
    """A sum without cancellation: a word that all but certainly goes on has a large surprisal, not an infinite one."""
    model = tiny("txl-tokens").float()
    with torch.no_grad():
        assert isinstance(model.head, FactoredHead) and model.head.bias is not None
        model.head.bias[:8] -= 30.0
        model.head.outer.bias[1] -= 30.0
    state = LanguageModel(model).begin(boundary="own").step_ids([1, 9])
    assert 20.0 < state.surprisal < 60.0
