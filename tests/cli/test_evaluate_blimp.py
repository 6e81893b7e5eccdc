"""`dtg evaluate blimp` on made-up pairs and random models: files, comparison, restarts, processes, mistakes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from dtg.cli.commands.evaluation.pairs import evaluate_blimp
from dtg.cli.commands.evaluation.sg import evaluate_sg
from dtg.errors import InputError
from dtg.language_model import LanguageModel
from dtg.scoring.surprisal import SentenceSurprisal
from dtg.search.options import BeamOptions
from dtg.text.sentence import Sentence
from tests.cli.running import together
from tests.evaluation.pairs.making import record, write
from tests.evaluation.test_running import SENTENCES
from tests.parser.parsers import small_parser
from tests.scoring.test_marginal import tiny

COMPUTED = ("settings.json", "part-0.jsonl", "part-1.jsonl")
PARADIGMS = {"wh_island": "island_effects", "passive_1": "argument_structure", "my_test": "my_phenomenon"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for family in ("dtg", "txl-tokens"):
        tiny(family).save(folder / family)
    small_parser().save(folder / "parser")
    (folder / "data").mkdir()
    for uid, term in PARADIGMS.items():
        records = [
            record(number, uid, linguistics_term=term, sentence_good=good, sentence_bad=bad)
            for number, (good, bad) in enumerate([*SENTENCES, ("Mice ran.", "Mice ran.")])
        ]
        write(folder / "data" / f"{uid}.jsonl", *records)
    return folder


def command(*arguments: str | Path) -> None:
    """As the command line does, errors and all."""
    app = typer.Typer()
    app.command("blimp")(evaluate_blimp)
    app.command("sg")(evaluate_sg)
    app([*map(str, arguments)], standalone_mode=False)


def run(made: Path, *more: str | Path, model: str = "dtg") -> None:
    command("blimp", made / "data", "--model", made / model, "--beam", "5", *more)


def files(folder: Path) -> dict[str, bytes]:
    """What a reader of results looks at."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name not in COMPUTED}


def results(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found


def interrupt(monkeypatch: pytest.MonkeyPatch, at: int) -> list[int]:
    """Interrupt the model once, at this group; gives a list of the numbers of sentences in those it looks at."""
    search_stream, computed = LanguageModel.search_stream, list[int]()

    def interrupted(
        self: LanguageModel, sentences: Sequence[Sentence], limits: BeamOptions, **options: Any
    ) -> Iterator[SentenceSurprisal]:
        computed.append(len(sentences))
        if len(computed) == at:
            raise KeyboardInterrupt
        return search_stream(self, sentences, limits, **options)

    monkeypatch.setattr(LanguageModel, "search_stream", interrupted)
    return computed


def test_everything_that_is_written(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(made, "--out", tmp_path / "out", "--name", "ours")
    shown, told = capsys.readouterr()
    assert shown.startswith("ours: 3 paradigms, 12 pairs; log p by beam 5, word beam 1 (lower bound).\n")
    assert "mean over paradigms" in shown and "3 ties" in shown and shown.count("\n") < 15
    assert "both sentences are the same" in told and "24 sentences in" in told and "sentences/s" in told
    found = results(tmp_path / "out")
    assert (found["format_version"], found["kind"], found["given"]["name"]) == (1, "blimp", "ours")
    overall = found["scores"]["sentence"]["overall"]
    model = LanguageModel.load(made / "dtg")
    right = sum(
        model.marginal(good, "beam", beam=5).log_probability > model.marginal(bad, "beam", beam=5).log_probability
        for good, bad in SENTENCES
    )
    assert (overall["pairs"], overall["right"], overall["ties"]) == (12, 3 * right, 3)
    assert set(found["scores"]) == {"sentence", "per_word"} and found["against"] is None
    names = ["fields.png", "fields.svg", "pairs.csv", "phenomena.png", "phenomena.svg", "results.json", "results.md"]
    assert list(files(tmp_path / "out")) == names
    assert "| my phenomenon | 1 | 4 |" in (tmp_path / "out" / "results.md").read_text()
    run(made)
    assert "results.md" not in capsys.readouterr().out


def test_an_interrupted_run_goes_on_to_the_same_bytes(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(made, "--out", tmp_path / "whole")
    computed = interrupt(monkeypatch, at=2)
    run(made, "--out", tmp_path / "parts")
    assert "parts is not finished. The same command resumes it." in capsys.readouterr().err
    with (tmp_path / "parts" / "part-0.jsonl").open("ab") as torn:
        torn.write(b'{"group": 1, "rows": [{"paradigm"')
    run(made, "--out", tmp_path / "parts")
    assert computed == [8, 8, 8, 8] and files(tmp_path / "parts") == files(tmp_path / "whole")
    run(made, "--out", tmp_path / "parts")
    assert len(computed) == 4 and "everything had been computed before" in capsys.readouterr().err


def test_against_another_model(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(made, "--out", tmp_path / "tokens", "--paradigms", "my_test,wh_island", model="txl-tokens")
    assert "one pass (exact)" in capsys.readouterr().out
    assert results(tmp_path / "tokens")["settings"]["by"] == "exact"
    run(made, "--out", tmp_path / "dtg", "--against", tmp_path / "tokens")
    shown = capsys.readouterr().out
    assert "dtg − txl-tokens: " in shown and "(McNemar)" in shown
    assert "4 of the 12 pairs of dtg are left out" in shown
    test = results(tmp_path / "dtg")["against"]["sentence"]["tests"][0]
    assert test["both"] + test["only_a"] + test["only_b"] + test["neither"] == 8
    run(made, "--out", tmp_path / "again", "--against", tmp_path / "dtg")  # the same model: another name, no difference
    assert "dtg − dtg (dtg): +0.0 [+0.0, +0.0]; p 1 (McNemar)" in capsys.readouterr().out
    assert "## Comparison" in (tmp_path / "again" / "results.md").read_text()


def test_by_trees(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trees = ("--by", "trees", "--parser", made / "parser", "--trees", "4", "--first", "2")
    run(made, *trees, "--out", tmp_path / "out")
    assert "6 pairs (the first 2 of each); log p by 4 trees of" in capsys.readouterr().out
    run(made, *trees, "--seed", "1", "--out", tmp_path / "other")
    ours, other = (results(tmp_path / name)["settings"] for name in ("out", "other"))
    assert ours["trees"] == 4 and len(ours["proposal"]) == 64 and other == {**ours, "seed": 1}
    assert (tmp_path / "out" / "pairs.csv").read_bytes() != (tmp_path / "other" / "pairs.csv").read_bytes()


def test_mistakes(made: Path, tmp_path: Path) -> None:
    mistakes: dict[tuple[str | Path, ...], str] = {
        (
            "--against",
            tmp_path / "nowhere",
        ): "there are no results in .*nowhere: a folder with results of blimp is expected",
        ("--parser", made / "parser"): "--parser is for --by proposal",
        ("--by", "trees", "--parser", made / "no"): "is no file or folder",
        ("--first", "1", "--share", "0.1"): "not both",
        ("--paradigms", "wh_islands"): "you may mean wh_island",
        ("--out", made): "is not empty, and not a folder of results",
    }
    for arguments, message in mistakes.items():
        with pytest.raises(InputError, match=message):
            run(made, *arguments)
    with pytest.raises(InputError, match=r"no such file or folder\. BLiMP is a folder"):
        command("blimp", made / "nothing", "--model", made / "dtg")
    run(made, "--paradigms", "my_test", "--first", "1", "--out", tmp_path / "one")
    with pytest.raises(InputError, match=r"other settings\.\nbeam is 6, and was 5"):
        run(made, "--paradigms", "my_test", "--first", "1", "--out", tmp_path / "one", "--beam", "6")
    with pytest.raises(InputError, match="none of the 4 pairs to be scored is among the 1 in"):
        run(made, "--paradigms", "passive_1", "--against", tmp_path / "one")
    (tmp_path / "one" / "results.json").unlink()
    with pytest.raises(InputError, match="are not finished"):
        run(made, "--against", tmp_path / "one")
    (tmp_path / "one" / "results.json").write_text('{"format_version": 1, "kind": "sg"}')
    with pytest.raises(InputError, match="has results of sg, not of blimp"):
        run(made, "--against", tmp_path / "one")


def run_in_two_processes(*arguments: str | Path) -> None:
    done = together("evaluate", *arguments)
    assert [one.returncode for one in done] == [0, 0], done


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blimp = ("blimp", made / "data", "--model", made / "dtg", "--beam", "5", "--out")
    command(*blimp, tmp_path / "one")
    run_in_two_processes(*blimp, tmp_path / "two")
    assert files(tmp_path / "two") == files(tmp_path / "one")
    assert {path.name for path in (tmp_path / "two").glob("part-*")} == {"part-0.jsonl", "part-1.jsonl"}
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="share the work through a folder; name it"):
        run(made)
