"""tools/hold_out.py: whole files are held out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tools import hold_out


def test_every_tenth_file_is_held_out_whole(tmp_path: Path) -> None:
    ids = [f"doc{file:02}-{number}" for file in range(1, 26) for number in range(1, 1 + file % 3 + 1)]
    for name, lines in (("some.ptb.gz", [f"(S (X {one}))" for one in ids]), ("some.ids.gz", ids)):
        (tmp_path / name).write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode()))
    hold_out.main([str(tmp_path / "some.ptb.gz"), str(tmp_path / "some.ids.gz"), "--out", str(tmp_path)])
    train, held = ((tmp_path / f"some-{part}.ptb").read_text().splitlines() for part in ("train", "heldout"))
    assert held == [f"(S (X {one}))" for one in ids if one.startswith(("doc10-", "doc20-"))]
    assert sorted(train + held) == sorted(f"(S (X {one}))" for one in ids)
    with pytest.raises(SystemExit, match="a name for each tree"):
        hold_out.split(["(S (X x))"], [])
