"""Models on disk: the same numbers come back, and what is damaged or foreign is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dtg
from dtg.errors import CheckpointError
from dtg.model import DecoderModel
from tests.model.test_model import sentences, tiny
from tests.model.test_released import IDS, released_weights


def test_a_model_comes_back(tmp_path: Path) -> None:
    model = tiny("dtg-swift", words_start=False, distance_limit=7).float()
    model.save(tmp_path / "model")
    again = dtg.load(tmp_path / "model")
    assert again.config == model.config
    for tree, pieces in sentences(3, seed=31):
        assert again.decoder_model.score_ids(pieces, tree.heads) == model.score_ids(pieces, tree.heads)


def test_a_released_model_comes_back(tmp_path: Path) -> None:
    model = DecoderModel.from_released(released_weights(), IDS)
    model.save(tmp_path)
    again = DecoderModel.load(tmp_path)
    tree, pieces = sentences(1, seed=32)[0]
    assert again.score_ids(pieces, tree.heads) == model.score_ids(pieces, tree.heads)
    assert json.loads((tmp_path / "config.json").read_text())["format_version"] == 1


def test_what_is_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"it has no config\.json"):
        dtg.load(tmp_path)
    tiny("dtg", words_start=False).save(tmp_path)
    weights = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(weights[:-20])
    with pytest.raises(CheckpointError, match="cannot load"):
        dtg.load(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(CheckpointError, match="cannot read"):
        dtg.load(tmp_path)
    (tmp_path / "config.json").write_text('{"format_version": 1}')
    with pytest.raises(CheckpointError, match="must have format_version, model, released_ids, root, tokenizer"):
        dtg.load(tmp_path)
