"""tools/small.sh from beginning to end, with a `dtg` that only records what it is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorded_scripts import RecordedScript, of

SCRIPT = Path(__file__).parents[2] / "tools" / "small.sh"


@pytest.fixture
def script(tmp_path: Path) -> RecordedScript:
    script = RecordedScript(SCRIPT, tmp_path)
    (tmp_path / "work" / "corpus").mkdir(parents=True)
    (tmp_path / "work" / "corpus" / "order.txt").write_text(
        "text-dev.conllu\n" + "".join(f"text-{n}.conllu\n" for n in range(1, 61))
    )
    return script


def test_the_parser_reads_what_is_free(script: RecordedScript) -> None:
    work = script.folder / "work"
    commands = script.commands("parser")
    assert commands[0][:2] == ["python", "tools/free_treebank.py"] and commands[0][-1] == str(work / "amalgum.conllu")
    (options,) = of(commands, "train-parser")
    names = [Path(str(path)).name for path in options["treebanks"]]  # type: ignore[attr-defined]
    assert names == ["en_ewt-ud-train.conllu"] * 6 + ["amalgum.conllu"]  # no treebank of GUM
    assert (options["resume"], options["out"]) == (False, work / "parsers" / "parser-small")
    (again,) = of(script.commands("parser"), "train-parser")
    assert again["resume"] is True


def test_the_first_stage_needs_no_parser(script: RecordedScript) -> None:
    work = script.folder / "work"
    commands = script.commands("prepare", "1")
    assert commands[0][:2] == ["python", "tools/free_treebank.py"]
    (options,) = of(commands, "prepare")
    names = [Path(str(path)).name for path in options["train"]]  # type: ignore[attr-defined]
    assert names == ["en_ewt-ud-train.conllu"] * 2 + ["amalgum-free.conllu"]
    assert (options["tokenizer"], options["out"]) == (None, work / "stage-1")
    assert not script.commands("prepare", "1")  # it is there


def test_stages_have_their_shards_and_start_where_the_one_before_ended(script: RecordedScript) -> None:
    work = script.folder / "work"
    parsed = of(script.commands("parse", "3"), "parse")
    assert len(parsed) == 45  # those held out, and of the stage before, too
    assert {str(options["parser"]) for options in parsed} == {"parser-small"}  # the bundled one: none was trained
    trained = work / "parsers" / "parser-small" / "best"
    trained.mkdir(parents=True)
    assert {str(options["parser"]) for options in of(script.commands("parse", "3"), "parse")} == {str(trained)}
    (third,) = of(script.commands("prepare", "3"), "prepare")
    names = [Path(str(path)).name for path in third["train"]]  # type: ignore[attr-defined]
    assert names == ["en_ewt-ud-train.conllu", *(f"text-{n}.conllu" for n in range(23, 45))]
    assert third["tokenizer"] == work / "stage-1" / "tokenizer.model"
    (begun,) = of(script.commands("train", "txl-small", "1"), "train")
    assert (begun["from_"], begun["data"]) == (None, work / "stage-1")
    first = ["model.family=txl-tokens", "training.words=2700000", "training.peak_rate=2e-3", "training.save_every=750"]
    assert begun["set_"] == first
    (continued,) = of(script.commands("train", "txl-small", "2"), "train")
    assert continued["from_"] == work / "runs" / "txl-small-1" / "best"
    always = ["training.peak_rate=2e-3", "training.save_every=750"]
    constant = ["training.words=3728751", "training.batch_sentences=64", "training.warmup_share=0.0753"]
    assert continued["set_"] == [*constant, "training.decay_share=0.0003", *always]
    assert "train that stage first" in script.run("train", "txl-small", "3", code=2).stderr
    for step in ("step-00000750", "step-00003000"):
        (work / "runs" / "txl-small-2" / "models" / step).mkdir(parents=True)
    (further,) = of(script.commands("train", "txl-small", "3"), "train")
    (annealed,) = of(script.commands("anneal", "txl-small", "2"), "train")
    assert further["from_"] == annealed["from_"] == work / "runs" / "txl-small-2" / "models" / "step-00003000"
    assert (annealed["data"], annealed["out"]) == (work / "stage-1", work / "runs" / "txl-small-2-annealed")
    assert list(annealed["set_"])[:2] == ["training.seed=1", "training.words=1900000"]  # type: ignore[call-overload]
    script.environment["START"] = "bundled"
    (elsewhere,) = of(script.commands("train", "dtg-small", "3"), "train")
    (prepared,) = of(script.commands("prepare", "2"), "prepare")
    (from_bundled,) = of(script.commands("prepare", "1"), "prepare")
    assert (elsewhere["from_"], prepared["tokenizer"]) == (Path("bundled"), Path("bundled/tokenizer.model"))
    assert from_bundled["tokenizer"] == Path("bundled/tokenizer.model")
    assert script.commands("bundle", "dtg-small", "3")[0][-2:] == [str(work / "runs/dtg-small-3/best"), "dtg-small"]


def test_evaluations(script: RecordedScript) -> None:
    for name, by, accuracy in (("dtg-small", "beam,joint", "fast"), ("txl-small", "beam", None)):
        commands = script.commands("evaluate", name, "1")
        kinds = [of(commands, "evaluate", kind) for kind in ("ppl", "sg", "garden-paths", "blimp")]
        found = [options for (options,) in kinds]
        assert {options["accuracy"] for options in found} == {accuracy} and found[0]["by"] == by


def test_mistakes(script: RecordedScript) -> None:
    assert "dtg-small or txl-small is expected" in script.run("train", "gpt", "1", code=2).stderr
    assert "the number of a stage" in script.run("prepare", code=1).stderr
    assert "tools/small.sh corpus" in script.run(code=2).stderr


def test_the_folder_to_work_in_is_made(tmp_path: Path) -> None:
    script = RecordedScript(SCRIPT, tmp_path)
    script.commands("prepare", "1")
    assert (tmp_path / "work").is_dir()
