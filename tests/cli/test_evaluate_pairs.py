"""`dtg evaluate pairs`, and options that have other names now."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from dtg.cli.commands.evaluation.pairs import evaluate_blimp, evaluate_pairs
from dtg.errors import InputError
from tests.evaluation.pairs.making import record, write
from tests.evaluation.pairs.test_own_pairs import TABLE
from tests.scoring.test_marginal import tiny

app = typer.Typer()
app.command("blimp")(evaluate_blimp)
app.command("pairs")(evaluate_pairs)


def run(*arguments: str | Path) -> None:
    app([*map(str, arguments)], standalone_mode=False)


def test_own_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pairs.tsv").write_text(TABLE)
    for family in ("dtg", "txl-tokens"):
        tiny(family).save(tmp_path / family)
    first = ("pairs", tmp_path / "pairs.tsv", "--model", tmp_path / "dtg", "--beam", "5")
    run(*first, "--out", tmp_path / "out")
    shown = capsys.readouterr().out
    assert shown.startswith("dtg: 2 groups, 3 pairs; log p by beam 5, word beam 1 (lower bound).")
    assert "agreement" in shown and f"Every pair is in {tmp_path}/out/pairs.csv" in shown
    run(*first, "--against", tmp_path / "out", "--name", "other")
    assert "other − dtg: +0.0 [+0.0, +0.0]; p 1 (McNemar)" in capsys.readouterr().out
    with pytest.raises(InputError, match="there is no column 'verb'"):
        run(*first, "--region", "verb")
    with pytest.raises(InputError, match="--parser is for --by proposal"):
        run(*first, "--parser", "parser-small")


def test_old_names_still_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "a.jsonl", *(record(number) for number in range(20)))
    tiny("txl-tokens").save(tmp_path / "model")
    for options, note in (
        (("--first", "4"), "--first is called --limit now"),
        (("--share", "0.2"), "--share is called --sample (a number, not a share) now"),
    ):
        run("blimp", tmp_path / "a.jsonl", "--model", tmp_path / "model", *options)
        shown = capsys.readouterr()
        assert note in shown.err and "1 paradigm, 4 pairs" in shown.out
    run("blimp", tmp_path / "a.jsonl", "--model", tmp_path / "model", "--sample", "4", "--seed", "2")
    assert "4 pairs (4 of each, drawn with seed 2)" in capsys.readouterr().out
