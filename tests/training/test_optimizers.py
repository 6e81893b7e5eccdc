"""Muon beside AdamW and the trapezoid beside the cosine: who learns what, rates step by step, runs that resume to the bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dtg.errors import ConfigError, InputError
from dtg.training import RuntimeOptions
from dtg.training import optimizers as optimizers_module
from dtg.training.learner import Learner
from dtg.training.muon import Float32Muon, orthogonalize
from dtg.training.optimizers import make_optimizers
from dtg.training.runtime import Runtime
from dtg.training.schedule import Schedule
from tests.training.standin import ToyModel, assert_same, last_weights, toy_config, toy_train


class MatrixModel(ToyModel):
    """Says which of its weights are matrices, and writes down how far its training is."""

    def __init__(self) -> None:
        super().__init__()
        self.followed: list[float] = []

    def matrices(self) -> list[Tensor]:
        return [parameter for parameter in self.layers.parameters() if parameter.ndim == 2]

    def follow(self, progress: float) -> None:
        self.followed.append(progress)


@pytest.mark.parametrize(("is_fast", "kind"), [(True, torch.optim.Muon), (False, Float32Muon)])
def test_matrices_are_learned_by_muon_and_the_rest_by_adamw(
    monkeypatch: pytest.MonkeyPatch, is_fast: bool, kind: type[torch.optim.Optimizer]
) -> None:
    monkeypatch.setattr(optimizers_module, "has_fast_bfloat16", lambda: is_fast)
    model = MatrixModel()
    muon, adamw = make_optimizers(model, toy_config(optimizer="muon", matrix_rate=0.5, weight_decay=0.01))
    assert type(muon.optimizer) is kind and type(adamw.optimizer) is torch.optim.AdamW
    by_muon = [id(one) for group in muon.optimizer.param_groups for one in group["params"]]
    by_adamw = [id(one) for group in adamw.optimizer.param_groups for one in group["params"]]
    assert by_muon == [id(matrix) for matrix in model.matrices()]
    assert sorted(by_muon + by_adamw) == sorted(map(id, model.parameters()))
    assert muon.scales == (0.5,) and adamw.scales == (2.0, 1.0)
    assert {group["weight_decay"] for group in (*muon.optimizer.param_groups, *adamw.optimizer.param_groups)} == {0.01}


def test_adamw_has_all_groups_in_their_order() -> None:
    """As before there was another optimizer: the norm of the gradient is summed in this order."""
    model = ToyModel()
    (one,) = make_optimizers(model, toy_config())
    assert one.scales == (2.0, 1.0)
    found = [id(parameter) for group in one.optimizer.param_groups for parameter in group["params"]]
    assert found == [id(model.embedding.weight), *map(id, model.layers.parameters())]


@pytest.mark.parametrize("shape", [(24, 24), (24, 32), (16, 64), (64, 16)])
def test_muon_in_float32_is_torchs_but_for_rounding(shape: tuple[int, int]) -> None:
    """Three steps with momentum and weight decay; torch rounds each update to bfloat16."""
    chance = torch.Generator().manual_seed(0)
    start, *gradients = (torch.randn(shape, generator=chance) for _ in range(4))
    options = {"lr": 0.05, "weight_decay": 0.1, "adjust_lr_fn": "match_rms_adamw"}
    found = {}
    for kind in (torch.optim.Muon, Float32Muon):
        matrix = nn.Parameter(start.clone())
        optimizer = kind([matrix], **options)  # type: ignore[arg-type]
        for gradient in gradients:
            matrix.grad = gradient.clone()
            optimizer.step()
        found[kind] = matrix.detach(), optimizer.state[matrix]["momentum_buffer"]
    theirs, ours = found[torch.optim.Muon], found[Float32Muon]
    moved = (theirs[0] - start).norm()
    assert (theirs[0] - ours[0]).norm() < 0.02 * moved
    assert torch.equal(theirs[1], ours[1])


@pytest.mark.parametrize("shape", [(8, 20), (40, 8), (12, 12)])
def test_newton_and_schulz_by_singular_values(shape: tuple[int, int]) -> None:
    """Each singular value goes through the polynomial by itself; small ones are not lost in the rounding of XX'."""
    a, b, c = coefficients = (3.4445, -4.775, 2.0315)
    short = min(shape)
    left, _, right = torch.linalg.svd(
        torch.randn(shape, generator=torch.Generator().manual_seed(1)), full_matrices=False
    )
    values = torch.logspace(0, -4, short)
    found = orthogonalize(left * values @ right, coefficients, 5, 1e-7)
    expected = values / values.norm()
    for _ in range(5):
        expected = a * expected + b * expected**3 + c * expected**5
    assert torch.allclose(left.t() @ found @ right.t(), torch.diag(expected), atol=5e-3)


def test_an_update_of_muon_is_orthogonal() -> None:
    """All singular values of a step are near 0.2 sqrt(longer side) x rate: as long as AdamW's would be."""
    matrix = nn.Parameter(torch.randn(8, 16, generator=torch.Generator().manual_seed(0)))

    class One(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = matrix

        def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
            return [{"params": [self.weight], "scale": 1.0}]

        def matrices(self) -> list[Tensor]:
            return [self.weight]

    muon, *_ = make_optimizers(One(), toy_config(optimizer="muon", peak_rate=0.1))
    before = matrix.detach().clone()
    matrix.grad = torch.randn(8, 16, generator=torch.Generator().manual_seed(1))
    muon.optimizer.step()
    values = torch.linalg.svdvals((before - matrix.detach()) / (0.1 * 0.2 * 4))
    assert float(values.min()) > 0.5 and float(values.max()) < 1.4


def test_a_run_by_muon_resumes_to_the_bit(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"optimizer": "muon", "decay": "trapezoid", "decay_share": 0.4}
    model = MatrixModel()
    whole = toy_train(tmp_path / "whole", model, **settings)
    assert whole.finished == "complete"
    assert model.followed == [step / 32 for step in range(33)]
    for resume in (False, True):  # one step each
        assert toy_train(tmp_path / "parts", MatrixModel(), max_minutes=0, resume=resume, **settings).finished is None
    assert toy_train(tmp_path / "parts", MatrixModel(), resume=True, **settings).step == 33
    assert_same(tmp_path / "whole", tmp_path / "parts")
    by_adamw = toy_train(tmp_path / "adamw", MatrixModel())
    assert by_adamw.finished == "complete"
    assert not torch.equal(
        last_weights(tmp_path / "whole")["layers.0.0.weight"], last_weights(tmp_path / "adamw")["layers.0.0.weight"]
    )


def test_what_muon_does_not_go_with(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="optimizer is 'muon'; but this model does not say"):
        toy_train(tmp_path / "run", optimizer="muon")
    runtime = Runtime(RuntimeOptions(device="cpu"))
    runtime.wrap = lambda module: module  # type: ignore[method-assign]  # there is nothing to shard over
    runtime.options = RuntimeOptions(device="cpu", fsdp=True)
    config = toy_config(optimizer="muon")
    with pytest.raises(InputError, match="optimizer muon goes with precision no or bf16, and with whole weights"):
        Learner(MatrixModel(), config, Schedule.of(config, 33), runtime)


def test_the_trapezoid_step_by_step() -> None:
    config = toy_config(
        decay="trapezoid", decay_share=0.3, peak_rate=1.0, start_rate=0.0, final_rate=0.1, warmup_share=0.2
    )
    rates = [Schedule.of(config, 10).rate(step) for step in range(10)]
    assert rates == pytest.approx([0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 0.7, 0.4, 0.1])


def test_a_cosine_is_recorded_as_before() -> None:
    config = toy_config()
    assert set(Schedule.of(config, 33).as_dict()) == {"steps", "warmup", "start", "peak", "final"}
    assert not {"optimizer", "matrix_rate", "decay", "decay_share"} & set(config.as_dict())
    other = toy_config(decay="trapezoid", optimizer="muon")
    assert json.loads(json.dumps(Schedule.of(other, 33).as_dict()))["falling"] == 7
    assert (other.as_dict()["decay"], other.as_dict()["optimizer"]) == ("trapezoid", "muon")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"optimizer": "sgd"}, "optimizer is 'sgd'; known: adamw, muon"),
        ({"decay": "linear"}, "decay is 'linear'; known: cosine, trapezoid"),
        ({"matrix_rate": 2.0}, 'matrix_rate is 2; it is for optimizer = "muon"'),
        ({"decay_share": 0.5}, 'decay_share is 0.5; it is for decay = "trapezoid"'),
        ({"decay": "trapezoid", "decay_share": 0.0}, "decay_share is 0; .* must fall at some time"),
    ],
)
def test_settings_that_do_not_fit_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        toy_config(**settings)


def test_a_warm_up_and_a_decay_that_overlap() -> None:
    config = toy_config(decay="trapezoid", decay_share=0.9, warmup_share=0.5)
    with pytest.raises(ConfigError, match="takes 5 steps and the decay 9, but the run has only 10"):
        Schedule.of(config, 10)
