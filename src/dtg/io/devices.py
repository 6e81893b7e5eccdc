"""The devices that models compute on, checked before anything is put there."""

from __future__ import annotations

import torch

from dtg.errors import InputError
from dtg.io.processes import launched, local_rank

KNOWN = ("cpu", "cuda", "mps")


def checked_device(device: torch.device | str) -> torch.device:
    """The device that is meant.

    Args:
        device: such as "cpu", "cuda", "cuda:1" or "mps".

    Returns:
        The device, which this machine has.
    """
    try:
        found = device if isinstance(device, torch.device) else torch.device(str(device))
    except RuntimeError:
        raise InputError(f"{device!r} is not a device; cpu, cuda, cuda:1 and mps are.") from None
    if found.type not in KNOWN:
        raise InputError(f"on {found} nothing can be computed; on cpu, cuda, cuda:1 and mps it can.")
    if found.type == "cuda" and not 0 <= (found.index or 0) < torch.cuda.device_count():
        raise InputError(
            f"{found} is not available on this machine, which has {torch.cuda.device_count()} such devices."
        )
    if found.type == "mps" and not torch.backends.mps.is_available():
        raise InputError(f"{found} is not available on this machine.")
    return found


def resolve_device(device: str) -> str:
    """The device that is meant, which this machine has; `auto` is a GPU where there is one.

    Of several processes on a machine, each gets a GPU of its own, as far as there are enough.
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    found = checked_device(device)
    if found.type == "cuda" and found.index is None and launched().count > 1:
        return f"cuda:{local_rank() % torch.cuda.device_count()}"
    return str(found)
