"""Model, optimizer and random state as plain named tensors, and back into place, bit for bit.

Names are those of the model's parameters. Parameters that are shared out over processes (FSDP) are gathered whole, so a
checkpoint does not depend on how many processes wrote it; all processes must call these functions together.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, distribute_tensor

from dtg.errors import CheckpointError


def model_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and persistent buffers; one that has several names appears under the first."""
    seen: set[int] = set()
    found = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            found[name] = whole(tensor)
    return found


def restore_model(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Copy tensors into the model they came from, or its equal."""
    names = model.state_dict(keep_vars=True)
    places = {name: place for name, place in names.items() if name in tensors}
    covered = {id(place) for place in places.values()}
    different = set(tensors) - set(names) | {name for name, place in names.items() if id(place) not in covered}
    if different:
        raise CheckpointError(
            f"the saved weights are of another model: they differ in {', '.join(sorted(different)[:5])}."
        )
    with torch.no_grad():
        for name, place in places.items():
            if place.shape != tensors[name].shape:
                raise CheckpointError(
                    f"the saved weights are of another model: {name} is {tuple(tensors[name].shape)}, "
                    f"but {tuple(place.shape)} is needed."
                )
            place.copy_(spread(tensors[name], place))


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What the optimizer remembers of each parameter: `exp_avg/NAME` and so on."""
    found = {}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            found[f"{key}/{name}"] = whole(value)
    return found


def restore_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give the optimizer back what it remembered."""
    parameters = dict(model.named_parameters())
    for full_name, tensor in tensors.items():
        key, name = full_name.split("/", maxsplit=1)
        parameter = parameters[name]
        if tensor.shape == parameter.shape and key != "step":
            value = torch.empty_like(parameter, requires_grad=False)
            value.copy_(spread(tensor, parameter))
        else:  # the count of steps
            value = tensor.clone().to(parameter.device)
        optimizer.state[parameter][key] = value


def random_tensors(device: torch.device) -> dict[str, Tensor]:
    """The state of torch's random numbers, on the CPU and on the device."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def restore_random(tensors: Mapping[str, Tensor], device: torch.device) -> None:
    torch.set_rng_state(tensors["cpu"])
    if device.type == "cuda" and "cuda" in tensors:
        torch.cuda.set_rng_state(tensors["cuda"], device)


def whole(tensor: Tensor) -> Tensor:
    """The tensor on the CPU, gathered from all processes where it is shared out."""
    tensor = tensor.detach()
    if isinstance(tensor, DTensor):
        tensor = tensor.full_tensor()
    return tensor.cpu().contiguous()


def spread(tensor: Tensor, like: Tensor) -> Tensor:
    """The tensor on the other's device, shared out as the other is."""
    tensor = tensor.to(like.device)
    if isinstance(like, DTensor):
        return distribute_tensor(tensor, like.device_mesh, like.placements)
    return tensor
