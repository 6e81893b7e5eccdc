"""Scores in minicons' call shapes, from a model whose surprisals are known: a word's length, plus what stands before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch

from dtg.errors import InputError
from dtg.language_model import LanguageModel
from dtg.scorer import Scorer
from tests.scoring.test_marginal import SENTENCE, tiny

DEFAULTS: dict[str, Any] = {"beam": None}  # what is not given is left to the model


class Known:
    """A stand-in for a model: surprisal = letters of the word + a tenth of the number of words before it; <END> costs 0.5."""

    language = "en"

    def __init__(self) -> None:
        self.calls: list[tuple[list[tuple[str, ...]], dict[str, Any]]] = []

    def surprisal(self, sentences: Sequence[Sequence[str]], beam: int, **options: Any) -> list[SimpleNamespace]:
        self.calls.append(([tuple(words) for words in sentences], {"beam": beam, **options}))
        return [
            SimpleNamespace(
                surprisals=np.array([len(word) + 0.1 * place for place, word in enumerate(words)]), end_surprisal=0.5
            )
            for words in sentences
        ]


def known(**options: Any) -> tuple[Scorer, Known]:
    model = Known()
    return Scorer(cast(LanguageModel, model), **options), model


def total(scores: torch.Tensor) -> float:
    """As minicons' users write it."""
    return float(scores.sum(0).item())


def test_sequence_score() -> None:
    scorer, model = known(beam=50, word_beam=5)
    text, words = "A dog.", ["A", "dog", "."]
    mean = -(1 + 3.1 + 1.2) / 3
    assert scorer.sequence_score(text) == pytest.approx([mean])  # a string alone is a batch of one
    assert scorer.sequence_score([text, "No."]) == pytest.approx([mean, -(2 + 1.1) / 2])
    assert scorer.sequence_score([words, ["two words", "x"]]) == pytest.approx([mean, -(9 + 1.1) / 2])
    assert scorer.sequence_score(text, total) == pytest.approx([-5.3])
    assert scorer.sequence_score(text, reduction=lambda x: -x.sum(0).item()) == pytest.approx([5.3])
    assert scorer.sequence_score(text, total, True) == pytest.approx([-5.3 / math.log(2)])
    assert scorer.sequence_score(text, total, base_two=True, eos_token=True) == pytest.approx([-5.8 / math.log(2)])
    assert model.calls[1] == (
        [("A", "dog", "."), ("No", ".")],
        {**DEFAULTS, "beam": 50, "word_beam": 5},
    )  # both in one call
    assert scorer.sequence_score([]) == []


def test_a_reduction_gets_a_tensor() -> None:
    scorer, _ = known()
    (scores,) = scorer.sequence_score("A dog.", reduction=lambda x: x)
    assert scores.dtype == torch.float64
    assert scores.tolist() == pytest.approx([-1, -3.1, -1.2])


def test_token_score() -> None:
    scorer, model = known()
    (pairs,) = scorer.token_score("A dog.")
    assert [word for word, _ in pairs] == ["A", "dog", "."]
    assert [score for _, score in pairs] == pytest.approx([-1, -3.1, -1.2])  # the first word has one too
    assert model.calls[0][1] == DEFAULTS
    for options, expected in (
        ({"surprisal": True}, [1, 3.1, 1.2]),
        ({"prob": True}, [math.exp(-1), math.exp(-3.1), math.exp(-1.2)]),
        ({"base_two": True}, [-1 / math.log(2), -3.1 / math.log(2), -1.2 / math.log(2)]),
        ({"surprisal": True, "base_two": True}, [1 / math.log(2), 3.1 / math.log(2), 1.2 / math.log(2)]),
    ):
        (pairs,) = scorer.token_score("A dog.", **options)
        assert [score for _, score in pairs] == pytest.approx(expected)
    assert scorer.token_score(["No", "A dog"], True)[0] == [("No", 2.0)]
    assert scorer.token_score([["No"]], surprisal=True, eos_token=True) == [[("No", 2.0), ("<END>", 0.5)]]


def test_conditional_score() -> None:
    scorer, model = known()
    prefix, stimuli = "A dog that", ["ran slept.", "sat"]
    scores = scorer.conditional_score([prefix] * 2, stimuli, reduction=total)
    assert scores == pytest.approx([-(3.3 + 5.4 + 1.5), -3.3])
    assert model.calls[0][0] == [("A", "dog", "that", "ran", "slept", "."), ("A", "dog", "that", "sat")]
    assert scorer.conditional_score(prefix, "sat") == pytest.approx([-3.3])
    assert scorer.conditional_score([prefix.split()], [["ran", "."]], reduction=total) == pytest.approx([-3.3 - 1.4])
    assert scorer.conditional_score(prefix, "sat", prob=True) == pytest.approx([math.exp(-3.3)])
    assert scorer.conditional_score(prefix, "sat", base_two=True) == pytest.approx([-3.3 / math.log(2)])
    assert scorer.conditional_score(prefix, "sat", reduction=total, eos_token=True) == pytest.approx([-3.8])
    assert scorer.conditional_score("", "sat") == pytest.approx([-3.0])
    assert scorer.conditional_score([[]], [["sat"]]) == pytest.approx([-3.0])


def test_separators() -> None:
    """What is in the separator is scored with the stimulus; without one, words may touch but not grow together."""
    scorer, model = known()
    assert scorer.conditional_score("A dog", "sat", ", ", total) == pytest.approx([-(1.2 + 3.3)])
    assert scorer.conditional_score(["I do", "I do"], ["n't", "not"], ["", " "], total) == pytest.approx([-3.2, -3.2])
    assert model.calls[-1][0] == [("I", "do", "n't"), ("I", "do", "not")]
    assert scorer.conditional_score("A dog ", "sat", "", total) == pytest.approx([-3.2])
    with pytest.raises(InputError, match="the word 'dogs' is partly in the prefix 'A dog' and partly after it"):
        scorer.conditional_score("A dog", "s sat", "")
    with pytest.raises(InputError, match="between words that are given as words, the separator ', ' has no place"):
        scorer.conditional_score([["A", "dog"]], [["sat"]], ", ")


def test_what_cannot_be_scored() -> None:
    scorer, model = known()
    with pytest.raises(
        InputError, match=r"prob=True gives probabilities, which are neither surprisals nor in base two"
    ):
        scorer.token_score("A dog.", surprisal=True, prob=True)
    with pytest.raises(InputError, match="prob=True gives probabilities"):
        scorer.conditional_score("A", "dog.", prob=True, base_two=True)
    with pytest.raises(
        InputError, match="there are 1 prefixes, 2 stimuli and 1 separators; each stimulus needs its own"
    ):
        scorer.conditional_score("A", ["dog", "cat"])
    with pytest.raises(InputError, match="2 prefixes, 2 stimuli and 1 separators"):
        scorer.conditional_score(["A", "A"], ["dog", "cat"], [" "])
    with pytest.raises(InputError, match=r"both as text or both as words, not 'A' and \['dog'\]\."):
        scorer.conditional_score(["A"], [["dog"]])
    with pytest.raises(InputError, match="the stimulus '' has no words; at least one is needed"):
        scorer.conditional_score("A dog", "")
    with pytest.raises(InputError, match="the text '' has no words"):
        scorer.sequence_score(["A dog", ""])
    assert not model.calls  # all of this is known before anything is searched


@pytest.mark.parametrize("family", ["dtg", "txl-tokens"])
def test_scores_of_a_real_model_sum_to_its_log_probability(family: str) -> None:
    model = tiny(family)
    sentences = [SENTENCE[:3], SENTENCE[:4]]
    sums = Scorer(model, beam=50, word_beam=50).sequence_score(sentences, total, eos_token=True)
    assert sums == pytest.approx([model.marginal(words, "exact").log_probability for words in sentences], abs=1e-9)
    (score,) = Scorer(model, beam=50, word_beam=50).conditional_score(
        [SENTENCE[:2]], [SENTENCE[2:4]], reduction=total, eos_token=True
    )
    pairs = Scorer(model, beam=50, word_beam=50).token_score([SENTENCE[:2]])[0]
    assert score == pytest.approx(sums[1] - sum(score for _, score in pairs), abs=1e-9)
