"""One pass over whole sentences: the same statistics as a search, for models without trees."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
import pytest

from dtg.scoring import surprisals
from dtg.scoring.surprisals import passes, read_in_one_pass, search_sentences
from dtg.search.beam_search import BeamSearch
from dtg.search.options import BeamOptions
from dtg.search.prefix_trie import search_all
from tests.model.test_model import tiny
from tests.search.test_prefix_trie import Sentence, sentence

GIVEN = [sentence(3, seed=2), sentence(1, seed=4), sentence(9, seed=1), sentence(3, seed=2)]


@pytest.mark.parametrize("head", ["factored", "joint"])
@pytest.mark.parametrize("constrained", [True, False])
def test_equal_to_a_search(head: str, constrained: bool) -> None:
    model = tiny("txl-tokens", head=head)
    search = BeamSearch(model, BeamOptions(beam=1, constrained=constrained))
    for found, expected in zip(read_in_one_pass(model, GIVEN, constrained), search_all(search, GIVEN), strict=True):
        np.testing.assert_allclose(found.words, expected.words, rtol=1e-11, atol=1e-12)
        assert found.log_probability == pytest.approx(expected.log_probability, rel=1e-11)


def test_without_ends_and_with_long_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long ones are searched, and all come in order."""
    search = BeamSearch(tiny("txl-tokens"), BeamOptions(beam=1))
    expected = list(search_all(search, GIVEN, ends=False))
    searched: list[int] = []

    def watched(search: BeamSearch, sentences: list[Sentence], ends: bool) -> object:
        searched.extend(map(len, sentences))
        return search_all(search, sentences, ends=ends)

    monkeypatch.setattr(surprisals, "search_all", watched)
    monkeypatch.setattr(surprisals, "LONGEST_PASS", max(len(list(chain(*words))) for words in GIVEN) - 1)
    found = list(search_sentences(search, GIVEN, ends=False))
    assert searched == [9]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.words, other.words, rtol=1e-11, atol=1e-12)
        assert math.isnan(one.log_probability) and math.isnan(other.log_probability)


def test_trees_are_searched() -> None:
    search = BeamSearch(tiny("dtg"), BeamOptions(beam=20, word_beam=6))
    assert list(search_sentences(search, GIVEN, ends=True)) == list(search_all(search, GIVEN))


def test_passes_are_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surprisals, "PIECES_AT_ONCE", 20)
    made = list(passes(GIVEN * 3))
    assert list(chain(*made)) == GIVEN * 3
    assert len(made) > 1 and all(len(some) == 1 or sum(map(len, chain(*some))) <= 20 for some in made)
