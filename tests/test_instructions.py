"""AMX without tile shapes is kept from oneDNN, and only that."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dtg import instructions


@pytest.mark.parametrize(
    ("claims", "palettes", "limit", "expected"),
    [
        (True, 0, None, instructions.WITHOUT_AMX),  # offered, but not described
        (True, 1, None, None),  # a processor with AMX
        (True, None, None, None),  # it cannot be asked
        (False, 0, None, None),  # no AMX at all
        (True, 0, "AVX2", "AVX2"),  # what the user has set stays
    ],
)
def test_limit(
    monkeypatch: pytest.MonkeyPatch, claims: bool, palettes: int | None, limit: str | None, expected: str | None
) -> None:
    monkeypatch.setattr(instructions, "claims_amx", lambda: claims)
    monkeypatch.setattr(instructions, "tile_palettes", lambda: palettes)
    monkeypatch.delenv(instructions.LIMIT, raising=False)
    if limit is not None:
        monkeypatch.setenv(instructions.LIMIT, limit)
    instructions.avoid_broken_amx()
    assert os.environ.get(instructions.LIMIT) == expected
    monkeypatch.delenv(instructions.LIMIT, raising=False)


def test_a_product_in_bfloat16_does_not_end_the_process() -> None:
    program = (
        "import dtg, torch; x = torch.ones(64, 256).bfloat16(); print(torch.nn.functional.linear(x, x).sum().item())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == 64 * 64 * 256
