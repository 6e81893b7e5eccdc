"""`dtg evaluate sg` on made-up suites and random models: files, import and export, comparison, restarts, mistakes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from dtg.errors import InputError, UnknownNameError
from tests.cli.test_evaluate_blimp import command, files, interrupt, results, run_in_two_processes
from tests.evaluation.syntaxgym.made_up import content, write_suite
from tests.scoring.test_marginal import tiny

SUITES = ("fgd_hierarchy", "nn-nv-rpl", "number_made_up")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for family in ("dtg", "txl-tokens"):
        tiny(family).save(folder / family)
    (folder / "sg").mkdir()
    for name in SUITES:
        write_suite(folder / "sg" / f"{name}.json", content(name))
    return folder


def run(made: Path, *more: str | Path, model: str = "dtg") -> None:
    command("sg", made / "sg", "--model", made / model, "--beam", "5", *more)


def numbers(folder: Path) -> dict[str, Any]:
    """What does not say where the surprisals come from."""
    found = results(folder)
    return {name: found[name] for name in ("scores", "items", "remarks")}


def rows_of(table: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(table.read_text().splitlines()))


def test_everything_that_is_written(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(made, "--out", tmp_path / "out")
    shown, told = capsys.readouterr()
    assert shown.startswith("dtg: 3 suites, 6 items; surprisals by beam 5, word beam 1.\n")
    assert "3 suites given, circuit mean" in shown and "Agreement" in shown and "fgd_hierarchy exclude" in shown
    assert "12 sentences in" in told and shown.count("\n") < 20
    found = results(tmp_path / "out")
    assert (found["kind"], found["items"], found["settings"]["beam"]) == ("sg", 6, 5)
    verdicts = rows_of(tmp_path / "out" / "verdicts.csv")
    holds = [[int(row["holds"]) for row in verdicts if row["prediction"] == number] for number in ("1", "2")]
    for rule, right in (("first", holds[0]), ("all", [a and b for a, b in zip(*holds, strict=True)])):
        micro = found["scores"][rule]["averages"][0]
        assert (micro["mean"], micro["items"], micro["right"]) == ("micro", 6, sum(right))
        assert micro["accuracy"] == pytest.approx(100 * sum(right) / 6)
    assert found["scores"]["first"]["suites"]["nn-nv-rpl"]["circuit"] is None
    names = ["circuits.png", "circuits.svg", "regions.csv", "results.json", "results.md", "verdicts.csv", "words.csv"]
    assert list(files(tmp_path / "out")) == names
    run(made, "--suites", "number_made_up", "--rule", "all", model="txl-tokens")
    shown = capsys.readouterr().out
    assert shown.startswith("txl-tokens: 1 suite, 2 items; surprisals by one pass (exact).") and "fgd" not in shown


def test_the_table_of_words_can_be_read_again(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(made, "--out", tmp_path / "model")
    table = tmp_path / "model" / "words.csv"
    command("sg", made / "sg", "--surprisals", table, "--out", tmp_path / "table")
    assert numbers(tmp_path / "table") == numbers(tmp_path / "model")
    ours, again = files(tmp_path / "model"), files(tmp_path / "table")
    assert ours["regions.csv"] == again["regions.csv"] and ours["verdicts.csv"] == again["verdicts.csv"]
    assert "words.csv" not in again and results(tmp_path / "table")["given"]["name"] == "words"
    capsys.readouterr()
    command("sg", made / "sg", "--surprisals", table, "--suites", "nn-nv-rpl", "--base", "e")
    shown = capsys.readouterr().out
    assert "27 tokens in words.csv, in nats" in shown and "54 tokens of other suites, left out" in shown


def test_sentences_for_other_tools(made: Path, tmp_path: Path) -> None:
    command("sg", made / "sg", "--sentences", tmp_path / "sentences.csv")
    command("sg", made / "sg", "--sentences", tmp_path / "sentences.txt")
    rows = rows_of(tmp_path / "sentences.csv")
    assert (
        len(rows) == 12
        and rows[0]["suite"] == "fgd_hierarchy"
        and rows[0]["sentence"] == "The dog's tail is n't long ."
    )
    assert (tmp_path / "sentences.txt").read_text().splitlines() == [row["sentence"] for row in rows]
    table = tmp_path / "lines.csv"  # as dtg surprisal writes it, with a word for what stands between spaces, and <END>
    lines = [
        f"{number},{word},1.5\n" for number, row in enumerate(rows, 1) for word in (*row["sentence"].split(), "<END>")
    ]
    table.write_text("sentence_id,word,surprisal\n" + "".join(line.replace(",,,", ',",",') for line in lines))
    command("sg", made / "sg", "--surprisals", table, "--out", tmp_path / "out")
    assert results(tmp_path / "out")["notes"][1] == "12 tokens after the end of a sentence, left out"
    with pytest.raises(InputError, match=r"sentences\.csv exists"):
        command("sg", made / "sg", "--sentences", tmp_path / "sentences.csv")


def test_against_another_model(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(made, "--out", tmp_path / "tokens", model="txl-tokens")
    run(made, "--out", tmp_path / "dtg", "--against", tmp_path / "tokens")
    shown = capsys.readouterr().out
    assert "dtg − txl-tokens: " in shown and "(McNemar)" in shown and "only txl-tokens" in shown
    against = results(tmp_path / "dtg")["against"]
    ours, other = (results(tmp_path / name)["scores"] for name in ("dtg", "tokens"))
    assert against["models"] == ["dtg", "txl-tokens"]
    for rule in ("first", "all"):
        overall = against[rule]["overall"]
        assert overall["both"] + overall["only_first"] == ours[rule]["averages"][0]["right"]
        assert overall["both"] + overall["only_second"] == other[rule]["averages"][0]["right"]
        assert list(against[rule]["circuits"]) == ["Agreement", "Long-distance"]
    assert "## Comparison" in (tmp_path / "dtg" / "results.md").read_text()


def test_an_interrupted_run_goes_on_to_the_same_bytes(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(made, "--out", tmp_path / "whole")
    computed = interrupt(monkeypatch, at=3)
    run(made, "--out", tmp_path / "parts")
    assert "parts is not finished. The same command resumes it." in capsys.readouterr().err
    run(made, "--out", tmp_path / "parts")
    assert computed == [4, 4, 4, 4] and files(tmp_path / "parts") == files(tmp_path / "whole")


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(made: Path, tmp_path: Path) -> None:
    sg = ("sg", made / "sg", "--model", made / "dtg", "--beam", "5", "--out")
    command(*sg, tmp_path / "one")
    run_in_two_processes(*sg, tmp_path / "two")
    assert files(tmp_path / "two") == files(tmp_path / "one")
    run_in_two_processes("sg", made / "sg", "--surprisals", tmp_path / "one" / "words.csv", "--out", tmp_path / "table")
    assert numbers(tmp_path / "table") == numbers(tmp_path / "one")


def test_mistakes(made: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("suite,item,condition,word,surprisal\nnn-nv-rpl,1,match,The,2\n")
    mistakes: dict[tuple[str | Path, ...], str] = {
        ("--surprisals", table): "give one of them",
        ("--sentences", table): "leave --model and --surprisals out",
        ("--base", "2"): "name that too",
        ("--against", tmp_path / "nowhere"): "a folder with results of sg is expected",
        ("--suites", ","): "no suite was named",
        ("--out", made): "is not empty, and not a folder of results",
    }
    for arguments, message in mistakes.items():
        with pytest.raises(InputError, match=message):
            run(made, *arguments)
    with pytest.raises(UnknownNameError, match=r"no suite called 'number'\. Known: fgd_hierarchy"):
        run(made, "--suites", "number")
    with pytest.raises(InputError, match="there is no such file or folder"):
        command("sg", made / "nothing", "--model", made / "dtg")
    with pytest.raises(InputError, match="nn-nv-rpl, item 1, condition match: its 1 tokens end before"):
        command("sg", made / "sg", "--surprisals", table)
    run(made, "--suites", "nn-nv-rpl", "--out", tmp_path / "one")
    with pytest.raises(InputError, match=r"fgd_hierarchy, item 1 is not in .*one \(4 differ in all\)"):
        run(made, "--against", tmp_path / "one")
