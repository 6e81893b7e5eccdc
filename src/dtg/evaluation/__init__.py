"""How good models are: tasks, and one way to run, store, compare and show them all."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dtg.evaluation.contract import Interval, Metric, Task
    from dtg.evaluation.results import Comparison, Results
    from dtg.evaluation.run import evaluate, run

__all__ = ["Comparison", "Interval", "Metric", "Results", "Task", "evaluate", "run"]
HOMES = {
    **dict.fromkeys(("Interval", "Metric", "Task"), "contract"),
    **dict.fromkeys(("Comparison", "Results"), "results"),
    **dict.fromkeys(("evaluate", "run"), "run"),
}


def __getattr__(name: str) -> Any:
    """Import what needs torch only when it is asked for: reading data and counting scores stay quick."""
    if name not in HOMES:
        raise AttributeError(f"module 'dtg.evaluation' has no attribute {name!r}")
    return getattr(importlib.import_module(f"dtg.evaluation.{HOMES[name]}"), name)
