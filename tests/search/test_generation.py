"""Sentences made up: always valid trees, the same for the same seed, and as probable as they say."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
import torch

from dtg.errors import InputError
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.search import generation
from dtg.search.sampling import Sampling, draw
from dtg.text import Tokenizer
from tests.dependency import DEPENDENCY_FAMILIES, as_dependency
from tests.model.test_model import TINY


def model_of(family: str, *, head: str = "factored", seed: int = 0) -> LanguageModel:
    words = "the dog barks at a cat and sees it run away from here".split()
    tokenizer = Tokenizer.train(words * 3, 300)
    settings: dict[str, Any] = {**TINY, "vocabulary": tokenizer.size, "head": head}
    model = DecoderModel.create(ModelConfig(family=family, **settings), tokenizer, seed=seed)
    return LanguageModel(model.double().eval())


@pytest.mark.parametrize("family", DEPENDENCY_FAMILIES)
@pytest.mark.parametrize("head", ["factored", "joint"])
def test_every_sentence_is_a_valid_tree(family: str, head: str) -> None:
    model = model_of(family, head=head)
    some = model.generate(80, max_words=9, seed=1)
    assert len(some) == 80
    for sentence in some:
        assert 1 <= len(sentence.words) <= 9
        assert all(sentence.words)
        assert not any(mark in word for word in sentence.words for mark in " \t\n\ufffd")
        assert sentence.log_probability < 0.0
        if family == "txl-tokens":
            assert sentence.tree is None
        else:
            tree = as_dependency(sentence.tree)
            assert tree.words == sentence.words
            assert tree.is_projective
    assert head == "joint" or any(sentence.complete for sentence in some)
    assert len({sentence.words for sentence in some}) > 20


@pytest.mark.parametrize("family", ["dtg", "dtg-eager", "dtg-swift"])
def test_log_probability_is_that_of_the_tree(family: str) -> None:
    """Wherever the pieces drawn are those that the tokenizer would choose, and nothing was cut short."""
    model = model_of(family)
    assert model.tokenizer is not None
    compared = 0
    for sentence in model.generate(150, max_words=12, seed=2):
        if not sentence.complete or sentence.tree is None:
            continue
        (score,) = model.score([sentence.tree])
        if score == pytest.approx(sentence.log_probability, rel=1e-9):
            compared += 1
        else:  # pieces that spell the same word in another way
            assert any(len(model.tokenizer.encode(word)) > 1 for word in sentence.words)
    assert compared >= 10


def test_at_the_limit_the_tree_closes() -> None:
    """A model that never wants to stop: every sentence has the most words allowed, and a whole tree."""
    model = model_of("dtg")
    with torch.no_grad():
        model.decoder_model.head.outer.bias[0] = 30.0  # type: ignore[union-attr, operator]
    for sentence in model.generate(5, max_words=4, seed=3):
        assert len(sentence.words) == 4
        assert not sentence.complete
        assert sentence.tree is not None


def test_the_same_seed_gives_the_same_sentences() -> None:
    model = model_of("dtg-eager")
    first, again, other = (model.generate(6, seed=seed, max_words=15) for seed in (4, 4, 5))
    assert first == again
    assert first != other


def test_more_than_fit_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "AT_ONCE", 3)
    monkeypatch.setattr(generation, "TIDY_EVERY", 2)
    assert len(model_of("dtg").generate(8, max_words=10)) == 8


def test_prompts_begin_every_sentence() -> None:
    model = model_of("dtg")
    for sentence in model.generate(10, prompt=["the", "dog"], max_words=6, seed=6):
        assert sentence.words[:2] == ("the", "dog")
        assert sentence.tree is not None
    # The prompt's last word is whole: what follows begins another word, or ends the sentence.
    only = model.generate(5, prompt="the dog barks", max_words=3, seed=7)
    assert {sentence.words for sentence in only} == {("the", "dog", "barks")}
    assert (
        len({as_dependency(sentence.tree).heads for sentence in only if sentence.tree}) > 1
    )  # the prompt's parse is drawn


def test_generated_as_often_as_probable() -> None:
    """Two-word sentences of a model with few words: how often each comes up is its share of probability (chi-square)."""
    model = model_of("dtg", seed=3)
    assert model.tokenizer is not None
    sentences = model.generate(1500, max_words=1, seed=8)
    # At a limit of one word each sentence is one word of any number of pieces. Its first piece has the model's odds.
    first = Counter(model.tokenizer.encode(sentence.words[0])[0] for sentence in sentences)
    begin = model.begin()
    beams = begin._beams
    with torch.inference_mode():
        odds = begin.search.evaluator.pieces(beams.hidden, beams.lanes.states.features())[0].exp()
    unlike = [piece for piece in first if float(odds[piece]) == 0.0]
    assert not unlike
    common = [piece for piece, count in first.items() if count >= 20 and len(model.tokenizer.piece(piece)) > 3]
    for piece in common:
        expected = 1500 * float(odds[piece])
        assert abs(first[piece] - expected) < 5 * math.sqrt(expected)


def test_draw_by_temperature_top_k_and_top_p() -> None:
    generator = torch.Generator().manual_seed(0)
    log_probability = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log().repeat(4000, 1)

    def shares(sampling: Sampling) -> list[float]:
        drawn = draw(log_probability, sampling, generator)
        return (torch.bincount(drawn, minlength=4) / 4000).tolist()

    assert shares(Sampling()) == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=0.03)
    squared = torch.tensor([0.25, 0.09, 0.0225, 0.0025])
    assert shares(Sampling(temperature=0.5)) == pytest.approx((squared / squared.sum()).tolist(), abs=0.03)
    assert shares(Sampling(temperature=0.0)) == [1.0, 0.0, 0.0, 0.0]
    assert shares(Sampling(top_k=2)) == pytest.approx([0.625, 0.375, 0.0, 0.0], abs=0.03)
    assert shares(Sampling(top_p=0.6)) == pytest.approx([0.625, 0.375, 0.0, 0.0], abs=0.03)
    assert shares(Sampling(top_p=0.01)) == [1.0, 0.0, 0.0, 0.0]
    assert shares(Sampling(top_k=9, top_p=1.0)) == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=0.03)


def test_what_cannot_be_drawn_is_not() -> None:
    log_probability = torch.tensor([[-torch.inf, -50.0, -torch.inf]]).repeat(100, 1)
    for sampling in (Sampling(), Sampling(top_k=2), Sampling(top_p=0.5), Sampling(temperature=0.0)):
        assert set(draw(log_probability, sampling, torch.Generator()).tolist()) == {1}


def test_bad_settings_are_named() -> None:
    model = model_of("dtg")
    for settings, message in (
        ({"temperature": -1.0}, "temperature is -1.0; a number of at least 0"),
        ({"top_k": 0}, "top_k is 0; a whole number of at least 1"),
        ({"top_p": 0.0}, "top_p is 0.0; a number above 0"),
        ({"max_words": 0}, "max_words is 0; it must be at least 1"),
        ({"prompt": "the dog barks", "max_words": 2}, "no less than the prompt's 3"),
    ):
        with pytest.raises(InputError, match=message):
            model.generate(1, **settings)
    with pytest.raises(InputError, match="0 sentences cannot be generated"):
        model.generate(0)
