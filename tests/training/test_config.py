"""The [training] table: what is accepted, and how mistakes are answered."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from dtg.errors import ConfigError
from dtg.training import TrainingConfig
from tests.training.standin import TABLE

CONFIGS = Path(__file__).parents[2] / "src" / "dtg" / "configs"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_rate": 1.0}, "[training] has no setting learning_rate. Known: seed, batch_sentences"),
        ({"batch_pieces": 100}, "needs batch_sentences or batch_pieces; both are given"),
        ({"epochs": None}, "needs epochs or words; neither is given"),
        ({"words": 10}, "needs epochs or words; both are given"),
        ({"warmup_steps": 3}, "needs warmup_steps or warmup_share; both are given"),
        ({"warmup_share": 1.0}, "warmup_share is 1.0; a number of at least 0 and below 1 is expected"),
        ({"seed": 1.5}, "seed is 1.5; a whole number of at least 0 and below 9.22337e+18 is expected"),
        ({"seed": -1}, "seed is -1; a whole number of at least 0 and below 9.22337e+18 is expected"),
        ({"accumulate": 0}, "accumulate is 0; a whole number of at least 1 is expected"),
        ({"keep": 0}, "keep is 0; a whole number of at least 1 is expected"),
        ({"peak_rate": "high"}, "peak_rate is 'high'; a number above 0 is expected"),
        ({"peak_rate": True}, "peak_rate is True; a number above 0 is expected"),
        ({"peak_rate": 0}, "peak_rate is 0; a number above 0 is expected"),
        ({"peak_rate": float("nan")}, "peak_rate is nan; a number above 0 is expected"),
        ({"final_rate": 1.0}, "peak_rate must be the highest rate"),
        ({"gradient_norm": -1.0}, "gradient_norm is -1.0; a number above 0 is expected"),
        ({"weight_decay": float("nan")}, "weight_decay is nan; a number of at least 0 is expected"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        TrainingConfig.from_dict({**TABLE, **changes})
    assert message in str(caught.value)


def test_something_must_say_how_long() -> None:
    with pytest.raises(ConfigError, match="needs epochs or words; neither is given"):
        TrainingConfig(batch_sentences=4, warmup_share=0.1)


def test_a_table_survives_the_round_trip() -> None:
    config = TrainingConfig.from_dict({**TABLE, "peak_rate": 1, "gradient_norm": float("inf")})
    assert config.peak_rate == 1.0
    assert TrainingConfig.from_dict(config.as_dict()) == config


@pytest.mark.parametrize("name", ["tiny", "mini", "paper"])
def test_our_configurations_are_valid(name: str) -> None:
    content = tomllib.loads((CONFIGS / f"{name}.toml").read_text())
    config = TrainingConfig.from_dict(content["training"])
    assert (config.gradient_norm, config.weight_decay) == (3.0, 0.0)
    if name == "paper":
        assert (config.warmup_steps, config.peak_rate, config.start_rate) == (8000, 1.5e-4, 1e-7)
        assert (config.final_rate, config.batch_sentences, config.epochs) == (3e-7, 64, 4)
