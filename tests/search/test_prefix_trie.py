"""Many sentences at once: the same numbers as one at a time, equal beginnings searched once, results in order."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from dtg import DependencyTree
from dtg.errors import InputError
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.search.beam_search import BeamSearch
from dtg.search.options import BeamOptions
from dtg.search.prefix_trie import search_all, words_at_once
from dtg.search.word_step import NextWord
from dtg.text import Tokenizer
from tests.dependency import DEPENDENCY_FAMILIES
from tests.model.test_model import TINY, tiny
from tests.search.test_beam_search import random_pieces
from tests.twins import every_projective_tree

Sentence = list[tuple[int, ...]]
OPTIONS = BeamOptions(beam=20, word_beam=6)


def sentence(words: int, seed: int) -> Sentence:
    return [tuple(word) for word in random_pieces(words, random.Random(seed))]


def alone(model: DecoderModel, words: Sentence) -> tuple[list[float], float]:
    """Surprisals and log p(x), word by word with one sentence in hand."""
    state = LanguageModel(model).begin(beam=20, word_beam=6)
    surprisals = []
    for pieces in words:
        state = state.step_ids(pieces)
        surprisals.append(state.surprisal)
    return surprisals, state.end().log_probability


@pytest.mark.parametrize("family", DEPENDENCY_FAMILIES)
@pytest.mark.parametrize("at_once", [1, 3, 50])
def test_equal_to_one_at_a_time(family: str, at_once: int) -> None:
    model = tiny(family)
    base = sentence(5, seed=1)
    given = [sentence(3, seed=2), base, base[:3], [*base[:4], *sentence(4, seed=3)], sentence(1, seed=4), base]
    found = list(search_all(BeamSearch(model, OPTIONS), given, at_once))
    for words, result in zip(given, found, strict=True):
        surprisals, log_probability = alone(model, words)
        assert [statistics[1] for statistics in result.words] == pytest.approx(surprisals, rel=1e-11)
        assert result.log_probability == pytest.approx(log_probability, rel=1e-11)


@pytest.mark.parametrize("family", ["dtg", "dtg-eager", "txl-trans"])
def test_equal_beginnings_are_searched_once(family: str) -> None:
    """Rows of four conditions that share words: those of each different beginning, once."""
    model = tiny(family)

    def rows(given: list[Sentence]) -> int:
        search = BeamSearch(model, OPTIONS)
        list(search_all(search, given, at_once=2))
        return search.rows_evaluated

    stem, left, right = sentence(5, seed=5), sentence(3, seed=6), sentence(3, seed=7)
    both = rows([[*stem, *left], [*stem, *right]])
    apart = rows([[*stem, *left]]) + rows([[*stem, *right]])
    state = LanguageModel(model).begin(beam=20, word_beam=6)
    for pieces in stem:
        state = state.step_ids(pieces)
    assert state._candidates is not None  # the candidates for the word after the stem are shared as well
    assert apart - both == state.search.rows_evaluated
    assert rows([[*stem, *left]] * 5) == rows([[*stem, *left]])


def test_results_come_in_order_and_early() -> None:
    """The first sentence is there long before the last is searched."""
    model = tiny("dtg")
    search = BeamSearch(model, OPTIONS)
    given = [sentence(4, seed=seed) for seed in range(20)]
    results = search_all(search, given, at_once=2)
    next(results)
    after_first = search.rows_evaluated
    list(results)
    assert after_first < search.rows_evaluated / 4


def test_many_words_after_one_beginning() -> None:
    """A hundred different second words do not all fit into one pass; none is lost."""
    model = tiny("dtg")
    given: list[Sentence] = [[(1,), (first, 8 + last)] for first in range(8) for last in range(4)]
    found = list(search_all(BeamSearch(model, OPTIONS), given, at_once=5))
    assert len(found) == 32
    for words, result in list(zip(given, found, strict=True))[::7]:
        assert result.log_probability == pytest.approx(alone(model, words)[1], rel=1e-11)


def test_large_models_take_fewer_words_at_once() -> None:
    small = BeamSearch(tiny("dtg"), BeamOptions(beam=100))
    assert words_at_once(small) == 24
    assert words_at_once(BeamSearch(tiny("dtg"), BeamOptions(beam=5000))) == 1
    assert words_at_once(BeamSearch(tiny("dtg"), BeamOptions(beam=2))) == 256


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    """A model with a tokenizer, random weights."""
    words = "the dog barks at a cat and sees it run away from here".split()
    tokenizer = Tokenizer.train(words * 3, 300)
    settings = {**TINY, "vocabulary": tokenizer.size}
    return LanguageModel(DecoderModel.create(ModelConfig(**settings), tokenizer).double().eval())


def test_surprisal_of_texts_and_words(model: LanguageModel) -> None:
    given = ["The dog barks.", ["the", "dog", "barks", "."], ["cat"]]
    found = model.surprisal(given, beam=20, word_beam=6)
    assert [result.words for result in found] == [("The", "dog", "barks", "."), ("the", "dog", "barks", "."), ("cat",)]
    for result in found:
        total = result.surprisals.sum() + result.end_surprisal
        assert total == pytest.approx(-result.log_probability, rel=1e-12)
        assert np.allclose(result.lexical + result.structural, result.surprisals)
        assert (result.surprisals > 0).all()
    state = model.begin(beam=20, word_beam=6)
    for place, word in enumerate(found[1].words):
        state = state.step(word)
        assert found[1].surprisals[place] == pytest.approx(state.surprisal, rel=1e-11)
        assert found[1].entropies[place] == pytest.approx(state.entropy, rel=1e-9, abs=1e-12)
        assert found[1].stack_depths[place] == pytest.approx(state.stack_depth, rel=1e-11)
        assert found[1].kept[place] == pytest.approx(state.kept, rel=1e-11)
        assert found[1].entropy_reductions[place] == pytest.approx(state.entropy_reduction, abs=1e-12)


def test_the_best_tree_by_beam(model: LanguageModel) -> None:
    """Of four words all thirty trees can be compared."""
    words = ("the", "dog", "barks", "here")
    found = model.parse(words, beam=1000, word_beam=1000)
    every = [DependencyTree(words, heads) for heads in every_projective_tree(4)]
    scores = model.score(every)
    assert found.tree == every[scores.index(max(scores))]
    assert found.log_probability == pytest.approx(max(scores), rel=1e-11)


@pytest.mark.parametrize(
    "text", ["word", "word " * 200, "😀 👩‍👩‍👧 is здесь", "zyzzyva", "bell \x07 and \u200b nothing", "10\u00a0000 dogs"]
)
def test_unusual_texts_have_an_answer(model: LanguageModel, text: str) -> None:
    (found,) = model.surprisal([text], beam=4, word_beam=2)
    assert np.isfinite(found.surprisals).all()
    assert np.isfinite(found.log_probability)


def test_one_text_is_not_a_list_of_sentences(model: LanguageModel) -> None:
    with pytest.raises(InputError, match=r"put it into a list: surprisal\(\[text\]\)"):
        model.surprisal("The dog barks.")
    with pytest.raises(InputError, match="has no words"):
        model.surprisal(["   "])
    with pytest.raises(InputError, match="no words; a sentence needs at least one"):
        model.surprisal([[]])
    with pytest.raises(InputError, match="no tokenizer"):
        list(LanguageModel(tiny("dtg")).surprisal_stream([["a"]]))


def test_ends_that_are_not_asked_for(model: LanguageModel) -> None:
    sentences = [["the", "keys", "are", "here"], ["the", "keys", "is"], ["the"]]
    search = BeamSearch(model.decoder_model, BeamOptions(beam=8))
    complete = model.surprisal(sentences, beam=8)
    found = model.surprisal(sentences, beam=8, ends=False)
    for one, whole in zip(found, complete, strict=True):
        assert one.surprisals.tolist() == whole.surprisals.tolist()
        assert math.isnan(one.end_surprisal) and math.isnan(one.log_probability)
    assert model.tokenizer is not None
    pieces = [model.tokenizer.encode_all(words) for words in sentences]
    list(search_all(search, pieces, ends=False))
    without, _ = search.rows_evaluated, list(search_all(search, pieces))
    assert search.rows_evaluated > 2 * without  # what is not asked for is not computed


@pytest.mark.parametrize("options", [BeamOptions(beam=20, max_actions=1), BeamOptions.of(max_actions=2)])
def test_ends_in_the_same_passes_as_words(options: BeamOptions) -> None:
    """Sentences of different lengths: some end while others go on, and a limit on actions holds for the latter alone."""
    model = tiny("dtg")
    given = [sentence(length, seed=20 + length) for length in (1, 2, 3, 4, 6)]
    found = list(search_all(BeamSearch(model, options), given))
    for words, together in zip(given, found, strict=True):
        search = BeamSearch(model, options)
        beams = search.begin()
        for pieces in words:
            beams = search.step(beams, search.expand(beams), [NextWord(0, pieces)])
        assert together.log_probability == pytest.approx(float(search.end(beams).log_probability[0]), rel=1e-11)
        assert together.words[-1][0] == pytest.approx(float(beams.statistics.log_mass[0]), rel=1e-11)
