"""A decoder with every choice at once is trained, suspended and resumed: its weights are those of an uninterrupted run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accelerate.state import AcceleratorState

from dtg.model import DecoderModel, ModelConfig
from dtg.training import RuntimeOptions
from dtg.training.config import TrainingConfig
from dtg.training.loop import Outcome, train
from dtg.transitions.batch import SentenceBatch
from tests.model.test_decoder import CHOICES
from tests.model.test_model import TINY, sentences
from tests.training.standin import assert_same, last_weights

TRAINING: dict[str, Any] = {
    "seed": 3, "batch_sentences": 4, "epochs": 1, "peak_rate": 1e-2, "start_rate": 1e-4, "final_rate": 1e-4,
    "warmup_share": 0.2, "log_every": 2, "dev_every": 4, "checkpoint_every": 3,
}  # fmt: skip
HYBRID: dict[str, Any] = {"family": "dtg-hybrid", "view_dropout": 0.6, "view_dropout_end": 0.1, "dropout": 0.1}


class SomeTrees:
    """A split of random trees."""

    def __init__(self, count: int, seed: int) -> None:
        self.sentences = sentences(count, seed)
        self.word_counts = np.array([len(pieces) for _, pieces in self.sentences])
        self.piece_counts = np.array([sum(map(len, pieces)) for _, pieces in self.sentences])

    def __len__(self) -> int:
        return len(self.sentences)

    def batch(self, indices: Any, device: Any) -> SentenceBatch:
        some = [self.sentences[index] for index in indices]
        return SentenceBatch.of([tree for tree, _ in some], [pieces for _, pieces in some], device)


class Numbers:
    hash = "numbers"


class SomeCorpus:
    hash, tokenizer = "trees", Numbers()
    splits: Mapping[str, Any] = {"train": SomeTrees(32, 1), "dev": SomeTrees(6, 2)}


@pytest.fixture(autouse=True)
def other_precision() -> Iterator[None]:
    """Accelerate keeps the precision of the first run of a process; other tests have another."""
    AcceleratorState._reset_state()
    yield
    AcceleratorState._reset_state()


def run(out: Path, model: Mapping[str, Any], training: Mapping[str, Any], **more: Any) -> Outcome:
    config = ModelConfig(**{**TINY, **model})
    return train(
        DecoderModel.create(config, seed=5),
        SomeCorpus(),
        TrainingConfig.from_dict({**TRAINING, **training}),
        out,
        model_table=config.to_dict(),
        options=RuntimeOptions(device="cpu", precision="bf16"),
        **more,
    )


@pytest.mark.parametrize(
    ("model", "training"),
    [
        ({**CHOICES["all"], **HYBRID}, {"optimizer": "muon", "decay": "trapezoid"}),
        ({"activation": "relu_squared", "norm_kind": "rms"}, {}),
    ],
    ids=["all", "some"],
)
def test_resumed_to_the_bit(model: dict[str, Any], training: dict[str, Any], tmp_path: Path) -> None:
    assert run(tmp_path / "whole", model, training).finished == "complete"
    for resume in (False, True):  # one step each
        assert run(tmp_path / "parts", model, training, max_minutes=0, resume=resume).finished is None
    assert run(tmp_path / "parts", model, training, resume=True).step == 8
    assert_same(tmp_path / "whole", tmp_path / "parts")
    new = dict(DecoderModel.create(ModelConfig(**{**TINY, **model}), seed=5).named_parameters())
    assert all((weights != new[name]).any() for name, weights in last_weights(tmp_path / "whole").items())
