"""The decoder that all families share, its heads, and whole models."""

from dtg.model.config import ModelConfig
from dtg.model.model import BatchLoss, DecoderModel, Predictions

__all__ = ["BatchLoss", "DecoderModel", "ModelConfig", "Predictions"]
