"""Processes, devices and precision, by Hugging Face Accelerate.

Accelerate detects how the command was launched (alone, torchrun, accelerate launch), places the model, wraps it for
data parallelism, and scales the loss where float16 needs it. Sharding (FSDP) is torch's own `fully_shard`, because
Accelerate's does not run on CPUs and could not be tested here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from dtg.environment import has_fast_bfloat16
from dtg.errors import InputError, MissingExtraError
from dtg.io.settings import check_choice

if TYPE_CHECKING:
    from accelerate import Accelerator
    from accelerate.tracking import GeneralTracker

PRECISIONS = ("auto", "no", "bf16", "fp16")
DEVICES = ("auto", "cpu", "cuda", "mps")
TRACKERS = ("tensorboard", "wandb")  # packages and extras, too


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """How to use the machine; none of it is part of the configuration."""

    # "auto" is "bf16" where products are faster in it, else "no"; a run that is resumed keeps what it was begun with.
    precision: str = "no"
    fsdp: bool = False
    device: str = "auto"
    # What is told what the log records, too: names of `TRACKERS`, or trackers of your own (Accelerate's `GeneralTracker`).
    log_with: Sequence[str | GeneralTracker] = ()

    def __post_init__(self) -> None:
        check_choice("precision", self.precision, PRECISIONS)
        check_choice("device", self.device, DEVICES)
        for name in self.log_with:
            if isinstance(name, str):
                check_choice("log_with", name, TRACKERS)
                if find_spec(name) is None:
                    raise MissingExtraError(name, name, f"logging with {name}")
        if self.fsdp and self.precision == "fp16":
            raise InputError("FSDP goes with precision no or bf16; fp16 needs loss scaling, which is not sharded.")


class Runtime:
    """This process among its peers."""

    def __init__(self, options: RuntimeOptions, out: Path | None = None, recorded: str | None = None) -> None:
        """Start as `options` say; `out` is the run folder, where trackers write, `recorded` the precision it was begun with."""
        try:
            from accelerate import Accelerator
            from accelerate.utils import ProjectConfiguration
        except ImportError:
            raise MissingExtraError("accelerate", "train", "training") from None
        if options.precision == "auto":
            precision = recorded or fastest_precision_for_all(on_cpu=options.device == "cpu")
            options = replace(options, precision=precision)
        forget_precision(options.precision)
        try:
            folder = str(out / "tensorboard") if out is not None else None
            self.accelerator: Accelerator = Accelerator(
                mixed_precision=options.precision,
                cpu=options.device == "cpu",
                log_with=list(options.log_with) or None,
                project_config=ProjectConfiguration(logging_dir=folder),
            )
        except ValueError as error:
            raise InputError(f"precision {options.precision} cannot be used here: {error}") from None
        self.options = options
        self.device: torch.device = self.accelerator.device
        self.processes: int = self.accelerator.num_processes
        self.rank: int = self.accelerator.process_index
        self.is_main: bool = self.accelerator.is_main_process
        if options.device not in ("auto", self.device.type):
            raise InputError(f"device {options.device} was asked for, but only {self.device.type} is available.")
        if options.precision == "fp16" and self.device.type == "cpu":  # Accelerate would ignore it silently
            raise InputError("precision fp16 needs a GPU; on a CPU use bf16, or no.")
        if options.fsdp and self.processes == 1:
            raise InputError("FSDP shards a model over processes, but there is only one. Launch dtg with torchrun.")
        if str(self.accelerator.distributed_type) == "DistributedType.FSDP":
            raise InputError("FSDP is an option of dtg train, not of accelerate launch.")

    def wrap(self, module: nn.Module) -> nn.Module:
        """Move the module to the device and wrap it so that gradients are summed over processes; parameters may be replaced."""
        if self.options.fsdp:
            from torch.distributed.fsdp import fully_shard

            module.to(self.device)
            for part in blocks(module):
                fully_shard(part)
            fully_shard(module)
            return module
        wrapped: nn.Module = self.accelerator.prepare_model(module)
        return wrapped

    @contextmanager
    def forward(self, module: nn.Module, synchronize: bool) -> Iterator[None]:
        """Around the computation of one batch; gradients are exchanged only where asked."""
        if self.options.fsdp:
            module.set_requires_gradient_sync(synchronize)  # type: ignore[operator]  # added by fully_shard
            with self.accelerator.autocast():
                yield
        elif synchronize:
            yield
        else:
            with self.accelerator.no_sync(module):
                yield

    def sum(self, values: list[float]) -> list[float]:
        """Sum numbers over all processes."""
        if self.processes == 1:
            return values
        kind = torch.float32 if self.device.type == "mps" else torch.float64
        summed: Any = self.accelerator.reduce(torch.tensor(values, dtype=kind, device=self.device), "sum")
        return [float(value) for value in summed.tolist()]

    def clip(self, parameters: list[Tensor], longest: float) -> float:
        """Clip the gradient to a norm, and return what its norm was."""
        norm: Any = self.accelerator.clip_grad_norm_(parameters, longest)
        return float(norm.full_tensor() if hasattr(norm, "full_tensor") else norm)

    def wait(self) -> None:
        self.accelerator.wait_for_everyone()

    @property
    def scaler(self) -> Any:
        """The loss scaler of float16, or None."""
        return self.accelerator.scaler


def forget_precision(wanted: str) -> None:
    """Let Accelerate compute in another precision than an earlier run of this process, whose it would keep."""
    from accelerate.state import AcceleratorState

    if AcceleratorState._shared_state.get("_mixed_precision") not in (None, wanted):
        AcceleratorState._reset_state()


def fastest_precision_for_all(*, on_cpu: bool) -> str:
    """What `fastest_precision` says of the first process's device, told to all processes of the run."""
    from accelerate import PartialState

    state = PartialState(cpu=on_cpu)
    found = [fastest_precision(state.device) if state.is_main_process else ""]
    if state.num_processes > 1:
        torch.distributed.broadcast_object_list(found)
    return found[0]


def fastest_precision(device: torch.device) -> str:
    """ "bf16" if the device is known to multiply matrices markedly faster in bfloat16 than in float32, else "no"."""
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "no"
    return "bf16" if device.type == "cpu" and has_fast_bfloat16() else "no"


def blocks(module: nn.Module) -> list[nn.Module]:
    """The parts that are sharded one by one: the members of module lists, which is where layers are kept."""
    return [part for parts in module.modules() if isinstance(parts, nn.ModuleList) for part in parts]


@contextmanager
def deterministic() -> Iterator[None]:
    """Use algorithms whose result does not depend on the order in which threads finish, where torch has them."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS asks for this
    settings: Any = torch.utils.deterministic  # whose one setting is a property of the module, unknown to type checkers
    was, warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    filled = settings.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    settings.fill_uninitialized_memory = False  # a help for debugging that costs time
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        settings.fill_uninitialized_memory = filled
        torch.use_deterministic_algorithms(was, warn_only=warned)
