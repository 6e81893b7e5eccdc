"""Settings for those who give none: configs/parser.toml and configs/parser-pretrained.toml as Python."""

from __future__ import annotations

from typing import Any

from dtg.parser.config import ENCODERS

Tables = dict[str, dict[str, Any]]

TRAINING = {
    "batch_sentences": 32,
    "epochs": 20,
    "start_rate": 1e-5,
    "peak_rate": 2e-3,
    "final_rate": 1e-5,
    "warmup_share": 0.05,
    "gradient_norm": 5.0,
    "log_every": 10,
    "checkpoint_every": 200,
}


def default_tables(encoder: str | None) -> Tables:
    """The tables of a configuration file for an encoder; None is the usual one."""
    if encoder is None or encoder in ENCODERS:
        return {"model": {}, "training": TRAINING}
    return {
        "model": {"pretrained_rate": 0.1, "dropout": 0.2},
        "training": {**TRAINING, "epochs": 7, "peak_rate": 1e-3, "warmup_share": 0.1},
    }
