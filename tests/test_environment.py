"""What dtg sets for its process: threads sleep while they wait, broken AMX is not used, freed memory is kept."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from dtg import environment

MEMORY_SCRIPT = """
import resource, sys, torch
from dtg.environment import keep_freed_memory
if "keep" in sys.argv:
    assert keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    torch.zeros(10_000_000)  # 40 MB, about 10,000 pages; where they lie differs a few times before it settles
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
THREADS_SCRIPT = """
import os, sys
import dtg.cli
assert "torch" not in sys.modules
print(os.environ.get("GOMP_SPINCOUNT"))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_large_blocks_come_from_the_system_once() -> None:
    pages = [
        int(
            subprocess.run(
                [sys.executable, "-c", MEMORY_SCRIPT, *more], capture_output=True, text=True, check=True
            ).stdout
        )
        for more in ((), ("keep",))
    ]
    assert pages[0] > 4 * pages[1]


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, "1000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "None")],
)
def test_threads_sleep_while_they_wait(given: dict[str, str], expected: str) -> None:
    others = {name: value for name, value in os.environ.items() if not name.startswith(("GOMP_", "OMP_"))}
    command = [sys.executable, "-c", THREADS_SCRIPT]
    done = subprocess.run(command, env=others | given, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected


@pytest.mark.parametrize(
    ("claims", "palettes", "limit", "expected"),
    [
        (True, 0, None, environment.WITHOUT_AMX),  # offered, but not described
        (True, 1, None, None),  # a processor with AMX
        (True, None, None, None),  # it cannot be asked
        (False, 0, None, None),  # no AMX at all
        (True, 0, "AVX2", "AVX2"),  # what the user has set stays
    ],
)
def test_amx_without_tile_shapes_is_not_used(
    monkeypatch: pytest.MonkeyPatch, claims: bool, palettes: int | None, limit: str | None, expected: str | None
) -> None:
    monkeypatch.setattr(environment, "claims_amx", lambda: claims)
    monkeypatch.setattr(environment, "tile_palettes", lambda: palettes)
    monkeypatch.delenv(environment.ONEDNN_LIMIT, raising=False)
    if limit is not None:
        monkeypatch.setenv(environment.ONEDNN_LIMIT, limit)
    environment.avoid_broken_amx()
    assert os.environ.get(environment.ONEDNN_LIMIT) == expected
    monkeypatch.delenv(environment.ONEDNN_LIMIT, raising=False)


def test_a_product_in_bfloat16_does_not_end_the_process() -> None:
    program = (
        "import dtg, torch; x = torch.ones(64, 256).bfloat16(); print(torch.nn.functional.linear(x, x).sum().item())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == 64 * 64 * 256


@pytest.mark.parametrize(
    ("maker", "flags", "palettes", "limit", "is_fast"),
    [
        ("GenuineIntel", "avx512_bf16 amx_bf16 amx_tile", 1, None, True),
        ("GenuineIntel", "avx512_bf16 amx_bf16 amx_tile", None, None, True),  # it cannot be asked
        ("GenuineIntel", "avx512_bf16 amx_bf16 amx_tile", 0, "AVX512_CORE_BF16", False),
        ("GenuineIntel", "avx512_bf16", 0, None, False),
        ("AuthenticAMD", "avx512_bf16", 0, None, True),
        ("AuthenticAMD", "avx2", 0, None, False),
    ],
)
def test_where_bfloat16_is_faster(
    maker: str,
    flags: str,
    palettes: int | None,
    limit: str | None,
    is_fast: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = tmp_path / "cpuinfo"
    told.write_text(f"processor\t: 0\nvendor_id\t: {maker}\nmodel name\t: x\nflags\t\t: fpu {flags} sse\n\n" * 2)
    monkeypatch.setattr(environment, "CPUINFO", told)
    monkeypatch.setattr(environment, "tile_palettes", lambda: palettes)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.delenv(environment.ONEDNN_LIMIT, raising=False)
    if limit is not None:
        monkeypatch.setenv(environment.ONEDNN_LIMIT, limit)
    assert environment.has_fast_bfloat16() == is_fast
    assert environment.claims_amx() == ("amx_tile" in flags)
    monkeypatch.setattr(environment, "CPUINFO", tmp_path / "none")
    assert not environment.has_fast_bfloat16()
