"""Models that the explorer's tests share, loaded once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

import dtg
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig

GARDEN_PATH = ("The", "horse", "raced", "past", "the", "barn", "fell", ".")


@pytest.fixture(scope="session")
def bundled() -> LanguageModel:
    return dtg.load("dtg-mini")


@pytest.fixture(scope="session")
def words_only() -> LanguageModel:
    return dtg.load("txl-mini")


def small_model(family: str, like: LanguageModel, **settings: Any) -> DecoderModel:
    """A random model with the bundled one's tokenizer; phrases, where it has any, are few."""
    assert like.tokenizer is not None
    sizes: dict[str, Any] = {"layers": 2, "width": 16, "attention_heads": 4, "head_width": 6, "feedforward": 20}
    phrases = {"labels": ("S", "NP"), "max_open": 3, "max_chain": 2}
    config = ModelConfig(family=family, vocabulary=like.tokenizer.size, **{**sizes, **phrases, **settings})
    model = DecoderModel.create(config, like.tokenizer, seed=3)
    with torch.no_grad():  # larger weights than a fresh one has, so that mistakes show
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    return model.double().eval()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Other tests run at the same time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
