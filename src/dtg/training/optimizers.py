"""The optimizers of a run: AdamW for everything, or Muon for matrices and AdamW for the rest.

Muon (Jordan et al. 2024) makes every update of a matrix orthogonal. Its rate is scaled so that updates are as large as
AdamW's are, so both follow one schedule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from dtg.environment import has_fast_bfloat16
from dtg.errors import ConfigError, TrainingError
from dtg.training.config import TrainingConfig
from dtg.training.muon import Float32Muon
from dtg.training.task import HasMatrices


@dataclass(frozen=True, slots=True)
class ScaledOptimizer:
    """An optimizer, and for each of its groups what multiplies the schedule's rate."""

    optimizer: torch.optim.Optimizer
    scales: tuple[float, ...]


def make_optimizers(model: nn.Module, config: TrainingConfig) -> list[ScaledOptimizer]:
    """The optimizers of a model's parameters, each of which is in one of them."""
    groups = [dict(group) for group in model.parameter_groups(config.peak_rate)]  # type: ignore[operator]
    named = [id(parameter) for group in groups for parameter in group["params"]]
    trained = {id(parameter) for parameter in model.parameters() if parameter.requires_grad}
    if sorted(named) != sorted(trained):
        raise TrainingError("the model's parameter_groups must name each of its trainable parameters exactly once.")
    if config.optimizer == "adamw":
        return [adamw(groups, config)]
    if not isinstance(model, HasMatrices):
        raise ConfigError(
            "[training] optimizer is 'muon'; but this model does not say which of its weights are matrices."
        )
    matrices = {id(matrix) for matrix in model.matrices()}
    apart = [split(group, matrices) for group in groups]
    by_muon = [group for group, _ in apart if group["params"]]
    by_adamw = [group for _, group in apart if group["params"]]
    return [make(some, config) for make, some in ((muon, by_muon), (adamw, by_adamw)) if some]


def split(group: Mapping[str, Any], matrices: set[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A group's matrices, and its other parameters."""
    inside: Sequence[Tensor] = [parameter for parameter in group["params"] if id(parameter) in matrices]
    others: Sequence[Tensor] = [parameter for parameter in group["params"] if id(parameter) not in matrices]
    return {**group, "params": inside}, {**group, "params": others}


def adamw(groups: list[dict[str, Any]], config: TrainingConfig) -> ScaledOptimizer:
    scales = tuple(float(group.pop("scale", 1.0)) for group in groups)
    made = torch.optim.AdamW(groups, lr=config.peak_rate, weight_decay=config.weight_decay, fused=True)
    return ScaledOptimizer(made, scales)


def muon(groups: list[dict[str, Any]], config: TrainingConfig) -> ScaledOptimizer:
    scales = tuple(float(group.pop("scale", 1.0)) * config.matrix_rate for group in groups)
    on_cpu = all(matrix.device.type == "cpu" for group in groups for matrix in group["params"])
    kind = Float32Muon if on_cpu and not has_fast_bfloat16() else torch.optim.Muon
    made = kind(groups, lr=config.peak_rate, weight_decay=config.weight_decay, adjust_lr_fn="match_rms_adamw")
    return ScaledOptimizer(made, scales)
