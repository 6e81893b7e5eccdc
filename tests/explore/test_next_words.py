"""The words expected next: their probabilities are those that stepping on would find."""

from __future__ import annotations

import math

import pytest

from dtg.analysis import predict_next_words
from dtg.errors import InputError
from dtg.language_model import LanguageModel
from dtg.search.state import BeamState
from tests.explore.conftest import GARDEN_PATH


@pytest.fixture(scope="module")
def at_barn(bundled: LanguageModel) -> BeamState:
    state = bundled.begin(30, word_beam=30)
    for word in GARDEN_PATH[:6]:
        state = state.step(word)
    return state


def test_probabilities_are_those_of_the_step(at_barn: BeamState) -> None:
    found = predict_next_words(at_barn, 12)
    assert len(found.words) == 12
    assert [word.probability for word in found.words] == sorted((w.probability for w in found.words), reverse=True)
    for word in found.words:
        if len(word.pieces) == 1:  # how others are completed depends on the candidates that are looked at
            assert math.exp(-at_barn.step(word.word).surprisal) == pytest.approx(word.probability, rel=1e-5)
    assert 0 < found.same_word < 1 and found.new_word + found.same_word <= 1.000001


def test_everything_is_the_average_over_hypotheses(at_barn: BeamState) -> None:
    together = predict_next_words(at_barn, 3)
    shares = [tree.probability for tree in at_barn.trees(None)]
    apart = [predict_next_words(at_barn, 40, number) for number in range(len(shares))]
    for word in together.words:
        each = [next((w.probability for w in one.words if w.word == word.word), 0.0) for one in apart]
        mean = sum(share * value for share, value in zip(shares, each, strict=True))
        assert mean == pytest.approx(word.probability, rel=0.01)  # candidates of all compete for the beam
    mean = sum(share * one.new_word for share, one in zip(shares, apart, strict=True))
    assert together.new_word <= mean <= 1.01 * together.new_word


def test_the_reduced_relative_expects_a_verb(at_barn: BeamState) -> None:
    main, reduced = (predict_next_words(at_barn, 8, number) for number in (0, 1))
    assert "was" in [word.word for word in reduced.words]
    assert "was" not in [word.word for word in main.words]


def test_asking_leaves_the_search_as_it_was(bundled: LanguageModel) -> None:
    fresh, asked = bundled.begin(20).step("The"), bundled.begin(20).step("The")
    predict_next_words(asked, 5)
    predict_next_words(asked, 5, 0)
    assert asked.step("horse").surprisal == fresh.step("horse").surprisal
    assert asked._beams.cache.used == fresh._beams.cache.used


def test_before_the_first_word_and_in_models_without_trees(words_only: LanguageModel) -> None:
    found = predict_next_words(words_only.begin(10), 5)
    assert found.same_word == 0  # no word is open
    assert found.words[0].word[0].isupper() or not found.words[0].word.isalpha()


def test_words_of_several_subwords_are_completed(bundled: LanguageModel) -> None:
    state = bundled.begin(20)
    for word in ("He", "lives", "in", "the", "United"):
        state = state.step(word)
    found = predict_next_words(state, 30)
    assert all("▁" not in word.word for word in found.words)
    assert any(len(word.pieces) > 1 for word in found.words) or found.words[0].probability > 0.2


def test_a_hypothesis_that_is_not_there(bundled: LanguageModel) -> None:
    with pytest.raises(InputError, match="there is no hypothesis 7"):
        predict_next_words(bundled.begin(5), 5, 7)
