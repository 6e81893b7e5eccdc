"""How many workers of a Ray cluster share the work, and what each has."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dtg.errors import InputError
from dtg.io.messages import DtgWarning

if TYPE_CHECKING:
    from ray.data import Dataset


@dataclass(frozen=True, slots=True)
class Workers:
    """How many workers there are, and what each has.

    Args:
        concurrency: their number; a pair lets Ray choose between two numbers.
        cpus: of each worker, which computes with as many threads.
        gpus: of each worker; it may be a fraction, which several share. With 0 they compute on CPUs.
        batch_size: rows that a worker is handed at a time. What is alike in length is computed together among them.
    """

    concurrency: int | tuple[int, int] = 1
    cpus: int = 1
    gpus: float = 0
    batch_size: int = 1024

    def __post_init__(self) -> None:
        for name, value in (("cpus", self.cpus), ("batch_size", self.batch_size)):
            if value < 1:
                raise InputError(f"{name} must be at least 1; it is {value}.")

    def check_room(self) -> None:
        """Warn if no CPU of the cluster is left for what reads the dataset: workers and readers would wait for each other."""
        import ray

        least = self.concurrency if isinstance(self.concurrency, int) else self.concurrency[0]
        there = int(ray.cluster_resources().get("CPU", 0)) if ray.is_initialized() else 0
        if there and least * self.cpus >= there:
            warnings.warn(
                f"the workers take {least * self.cpus} CPUs, and the cluster has {there}. Ray's own readers need one, too "
                "(`read_lines` does not): with fewer workers nothing has to wait.",
                DtgWarning,
                stacklevel=4,
            )

    def map(self, dataset: Dataset, worker: Callable[..., Any], **options: Any) -> Dataset:
        """The dataset with each batch handed to a worker that was made with these options.

        Ray starts a worker that dies again, and has its batch computed again, however often.
        """
        from ray.data import ActorPoolStrategy

        self.check_room()
        size = self.concurrency
        pool = {"size": size} if isinstance(size, int) else {"min_size": size[0], "max_size": size[1]}
        return dataset.map_batches(
            worker,
            batch_size=self.batch_size,
            batch_format="pyarrow",
            zero_copy_batch=True,
            compute=ActorPoolStrategy(**pool),
            fn_constructor_kwargs={**options, "threads": self.cpus, "device": "cuda" if self.gpus else "cpu"},
            num_cpus=self.cpus,
            num_gpus=self.gpus or None,
        )
