"""How torch's threads wait for each other: nothing in, and they sleep soon instead of looking again and again.

Threads that share an operation wait for the slowest. By default they do so at full speed, which is quickest where every
thread has a core to itself, and slow where another program has one of them (benchmarks/busy_core.py).
"""

from __future__ import annotations

import os

SPINS = "1000"  # about a microsecond; what the OpenMP library itself takes where it knows of too few cores


def sleep_while_waiting() -> None:
    """For threads of torch, if it is imported later and uses GNU's OpenMP. What the user has set is left alone."""
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
