"""A trained model as the start of another training: fine-tuning, or more of the same on another corpus."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dtg.errors import ConfigError
from dtg.families import FAMILIES
from dtg.io.hashing import file_hash
from dtg.io.json_files import WEIGHTS
from dtg.model.config import ModelConfig, needed_limits
from dtg.model.model import DecoderModel
from dtg.text.corpus import Corpus

# Settings that say how a model is trained, not what it computes afterwards.
OF_TRAINING = ("dropout", "view_dropout", "view_dropout_end")


def start_from(folder: Path, corpus: Corpus, changes: Mapping[str, Any]) -> tuple[DecoderModel, dict[str, Any]]:
    """A trained model that is to be trained on, with its own settings.

    Args:
        folder: of the model.
        corpus: must have the model's subwords, and trees of its kind.
        changes: settings of the model that are to differ; only those that concern training alone.

    Returns:
        The model in float32, and the table that describes it: its settings, and the hash of the weights it starts from.
    """
    if fixed := [name for name in changes if name not in OF_TRAINING]:
        raise ConfigError(
            f"{fixed[0]} cannot be set: a model that starts from {folder} has its settings. "
            f"What may differ is {', '.join(OF_TRAINING)}."
        )
    model = DecoderModel.load(folder).float()
    if model.tokenizer is None or model.tokenizer.hash != corpus.tokenizer.hash:
        raise ConfigError(
            f"{corpus.folder} has other subwords than {folder}. Prepare the corpus with the model's tokenizer "
            f"({folder / 'tokenizer.model'})."
        )
    config = ModelConfig.for_corpus({"language": model.config.language, **model.config.to_dict(), **changes}, corpus)
    for name, needed in needed_limits(corpus, FAMILIES[config.family].system.options).items():
        if needed > getattr(config, name):
            raise ConfigError(
                f"{name} of {folder} is {getattr(config, name)}, and a sentence of {corpus.folder} needs {needed}. "
                "Prepare the corpus without such sentences, or train a new model."
            )
    started = DecoderModel.create(config, corpus.tokenizer)
    started.load_state_dict(model.state_dict())
    return started, {**config.to_dict(), "start": file_hash(folder / WEIGHTS)}
