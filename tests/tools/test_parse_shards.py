"""tools/parse_shards.sh, with a `dtg` that fails once, and then only takes down what it is asked for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "parse_shards.sh"
DTG = """#!/usr/bin/env bash
echo "$@" >> "$RECORD"
cat > /dev/null   # what reads the standard input must not take the list of shards
if [ -e "$FAIL" ]; then rm "$FAIL"; echo '{"finished": false}' > "$6.meta.json"; exit 1; fi
echo '{"finished": true}' > "$6.meta.json"
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "order.txt").write_text("a-000.conllu\nb-000.conllu\na-001.conllu\n")
    (tmp_path / "dtg").write_text(DTG)
    (tmp_path / "dtg").chmod(0o755)
    return tmp_path


def run(corpus: Path, *more: str) -> tuple[int, list[str], str]:
    """Its code, the shards that were parsed, and the last line it printed."""
    record = corpus / "record"
    record.write_text("")
    given = {"DTG": str(corpus / "dtg"), "RECORD": str(record), "FAIL": str(corpus / "fail")}
    done = subprocess.run(
        [SCRIPT, corpus, "P", *more], env={**os.environ, **given}, capture_output=True, text=True, check=False, input=""
    )
    commands = record.read_text().splitlines()
    shards = [command.split()[1] for command in commands]
    for command, shard in zip(commands, shards, strict=True):
        out = corpus / "parsed" / Path(shard).name
        assert command == f"parse {shard} --parser P --out {out} --resume"
    return done.returncode, [Path(shard).name for shard in shards], (done.stdout.splitlines() or [""])[-1]


def test_all_shards_in_order_once(corpus: Path) -> None:
    assert run(corpus, "2") == (0, ["a-000.conllu", "b-000.conllu"], "2 of 3 shards are parsed.")
    assert run(corpus) == (0, ["a-001.conllu"], "3 of 3 shards are parsed.")
    assert run(corpus) == (0, [], "3 of 3 shards are parsed.")


def test_an_interrupted_shard_is_resumed(corpus: Path) -> None:
    (corpus / "fail").touch()
    assert run(corpus)[:2] == (1, ["a-000.conllu"])
    assert run(corpus)[:2] == (0, ["a-000.conllu", "b-000.conllu", "a-001.conllu"])


def test_mistakes_are_explained(tmp_path: Path) -> None:
    nothing = subprocess.run([SCRIPT], capture_output=True, text=True, check=False)
    assert (nothing.returncode, "parse_shards.sh CORPUS PARSER" in nothing.stderr) == (2, True)
    other = subprocess.run([SCRIPT, tmp_path, "P"], capture_output=True, text=True, check=False)
    assert (other.returncode, "has no order.txt" in other.stderr) == (1, True)
