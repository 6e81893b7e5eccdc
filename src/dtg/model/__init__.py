"""The decoder that all families share, its heads, and whole models."""

from dtg.model.config import ModelConfig
from dtg.model.model import DecoderModel, Predictions

__all__ = ["DecoderModel", "ModelConfig", "Predictions"]
