"""The decoder as a search runs it against the decoder itself, pass by pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from dtg.model import DecoderModel
from dtg.model.cached import frozen
from dtg.model.cached.cached_keys import CachedKeys
from dtg.model.cached.frozen import Room
from dtg.search.beam_search import BeamSearch
from dtg.search.beams import Beams
from dtg.search.options import BeamOptions
from dtg.search.word_step import NextWord
from tests.model.test_decoder import CHOICES
from tests.model.test_model import tiny

WORDS = [[1], [2, 9], [3], [4], [5, 8, 8], [6], [7]]


class Plain:
    """The decoder itself, in the place of one whose weights are frozen."""

    def __init__(self, model: DecoderModel) -> None:
        self.model = model

    def __call__(self, operation: Tensor, piece: Tensor, keys: CachedKeys, room: Room) -> Tensor:
        def store(layer: int, keys_values: Tensor) -> Tensor:
            new, stored = room(layer)
            new.copy_(keys_values)
            return stored

        hidden: Tensor = self.model.decoder(operation, piece, replace(keys, store=store))
        return hidden


def searched(search: BeamSearch) -> list[Beams]:
    """The beams after each word."""
    beams, found = search.begin(), []
    for pieces in WORDS:
        beams = search.step(beams, search.expand(beams), [NextWord(0, pieces)])
        found.append(beams)
    return found


@pytest.mark.parametrize("family", ["dtg", "dtg-swift", "txl-trans", "tg", "plm-mask", "pushdown", "dtg-hybrid"])
def test_it_gives_the_decoders_hidden_vectors_and_keys(family: str) -> None:
    compare(family, **({"attention_heads": 4} if family == "plm-mask" else {}))


@pytest.mark.parametrize("choice", [*CHOICES, "own biases", "output bias", "no biases", "scaled"])
def test_for_every_choice(choice: str) -> None:
    more: dict[str, dict[str, Any]] = {
        "own biases": {"shared_position_biases": False},
        "output bias": {"attention_output_bias": True},
        "no biases": {"position_biases": False},
        "scaled": {"embedding_scale": True},
    }
    compare("dtg", **(CHOICES | more)[choice])


def compare(family: str, **choices: Any) -> None:
    """Hypotheses, hidden vectors, and keys and values in every layer."""
    model = tiny(family, **choices)
    quick, plain = (BeamSearch(model, BeamOptions(beam=12, word_beam=6)) for _ in range(2))
    plain.evaluator.decoder = Plain(model)  # type: ignore[assignment]
    found, expected = searched(quick), searched(plain)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.hidden, other.hidden, rtol=1e-9, atol=1e-10)
        used = one.cache.used
        assert used == other.cache.used
        torch.testing.assert_close(one.cache.table[:, :used], other.cache.table[:, :used], rtol=1e-9, atol=1e-10)
        torch.testing.assert_close(one.statistics.surprisal, other.statistics.surprisal, rtol=1e-9, atol=1e-10)


def test_few_rows_at_a_time_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frozen, "ROWS_AT_ONCE", 5)
    compare("dtg")
