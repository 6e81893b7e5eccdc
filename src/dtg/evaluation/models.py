"""What is evaluated: a language model or a parser, with its name, its hash and its device; and who proposes trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dtg
from dtg import pretrained
from dtg.io.devices import resolve_device
from dtg.io.weights import weights_hash
from dtg.language_model import LanguageModel, name_of
from dtg.model.saving import model_hash
from dtg.parser import Parser, load_parser
from dtg.parser.saving import parser_hash

SPACY = "spacy:"


@dataclass(frozen=True, slots=True)
class EvaluatedModel:
    """A language model, or a parser, and what it is called."""

    model: Any  # a LanguageModel, or a Parser where it is parsers that are evaluated
    name: str
    sha256: str
    device: str
    folder: str | None = None

    @classmethod
    def of(
        cls, model: LanguageModel | str | Path | None = None, device: str = "auto", name: str | None = None
    ) -> EvaluatedModel:
        """A model in memory, or the folder or bundled name of one; without any, the default model."""
        if model is None or isinstance(model, str | Path):
            folder = pretrained.find(model or pretrained.MODEL)
            device = resolve_device(device)
            loaded = LanguageModel.load(folder, device)
            return cls(loaded, name or name_of(folder), model_hash(folder), device, str(folder))
        return cls(model, name or model.name, weights_hash(model.decoder_model), str(model.device))

    @classmethod
    def of_parser(
        cls, parser: Parser | str | Path | None = None, device: str = "auto", name: str | None = None
    ) -> EvaluatedModel:
        """A parser in memory, or the folder or bundled name of one; without any, the default parser."""
        if parser is None or isinstance(parser, str | Path):
            folder = pretrained.find(parser or pretrained.PARSER)
            device = resolve_device(device)
            loaded = load_parser(folder, device)
            return cls(loaded, name or name_of(folder), parser_hash(folder), device, str(folder))
        device = str(next(parser.parameters()).device)
        return cls(parser, name or "parser", weights_hash(parser), device)

    def settings(self, command: str, data_sha256: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """What decides the numbers."""
        is_parser = isinstance(self.model, Parser)
        return {
            "command": command,
            "dtg": dtg.__version__,
            **({"parser_sha256": self.sha256} if is_parser else {"family": self.model.config.family}),
            **({} if is_parser else {"model_sha256": self.sha256}),
            "data_sha256": data_sha256,
            **options,
            "device": self.device,
        }
