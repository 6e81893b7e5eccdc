"""The campaign of tools/attack: some of it with fixed seeds, and that it finds faults where there are some."""

from __future__ import annotations

from pathlib import Path
from random import Random
from time import monotonic

import pytest

from tools.attack.__main__ import main, table
from tools.attack.mutators import mutated
from tools.attack.readers import READERS, Reader, Tally, attack, check_samples


def test_samples_can_be_read(tmp_path: Path) -> None:
    assert list(check_samples(tmp_path)) == []


def test_inputs_follow_from_the_seed() -> None:
    for reader in READERS:
        one, two = (
            [mutated(reader.samples[0], reader.samples, Random(n), is_json=reader.is_json) for n in range(9)]
            for _ in "ab"
        )
        assert one == two and len(set(one)) > 4


def test_faults_are_found(tmp_path: Path) -> None:
    def careless(path: Path, random: Random) -> None:
        path.read_text(encoding="utf-8").index("dog")

    reader, tally = Reader("text", "x.txt", careless), Tally("text")
    attack(reader, 1, tmp_path, tally, range(200), monotonic() + 60)
    assert tally.tried == 200 and tally.refused == 0
    assert any("UnicodeDecodeError" in fault for fault in tally.faults)
    assert any("ValueError" in fault for fault in tally.faults)
    assert table([tally], 1).splitlines()[2].startswith("| text | 200 |")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["--no-commands", "--minutes", "0.2", "--seed", "7"],
        ["--no-readers", "--minutes", "0.6", "--seed", "7", "--no-bundled", "--trials", "4"],
    ],
    ids=["readers", "commands"],
)
def test_some_of_it_finds_nothing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code = main(arguments)
    assert code == 0, capsys.readouterr()
