"""Which of several processes this is: what `torchrun` says in, a rank and a way to wait for each other out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from dtg.errors import InputError

PATIENCE = timedelta(days=7)  # processes finish at different times; one that fails is torchrun's to end


@dataclass(frozen=True, slots=True)
class Processes:
    """This process among those that share the work."""

    rank: int = 0
    count: int = 1

    @property
    def is_main(self) -> bool:
        return self.rank == 0

    def wait(self) -> None:
        """Until all processes have come to the same place."""
        if self.count > 1:
            import torch.distributed

            torch.distributed.barrier()


@contextmanager
def joined() -> Iterator[Processes]:
    """The processes that torchrun has started, or this one alone."""
    try:
        rank, count = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    except ValueError as error:
        raise InputError(f"RANK and WORLD_SIZE must be whole numbers, as torchrun sets them: {error}.") from None
    if count == 1:
        yield Processes()
        return
    import torch.distributed

    torch.distributed.init_process_group("gloo", timeout=PATIENCE)
    try:
        yield Processes(rank, count)
    finally:
        torch.distributed.destroy_process_group()
