"""tools/results.sh from beginning to end, with a `dtg` that only records what it is asked for."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from dtg.cli.training import changed, read_config
from dtg.families import FAMILIES
from dtg.model import ModelConfig
from dtg.training import TrainingConfig
from tests.recorded_scripts import TREEBANKS, Commands, RecordedScript, of
from tools.keep import keep

SCRIPT = Path(__file__).parents[1] / "tools" / "results.sh"
SEEDED = ["dtg", "tokens", "trans", "tg", "pushdown"]
FULL = [*SEEDED, *(f"{name}-seed1" for name in SEEDED)]
DEPENDENCIES = ["dtg", "trans", "tokens", "eager", "swift", "arc", "word", "parsed", "pretrained"]
PHRASES = ["tg", "tg-projected", "plm", "plm-mask", "pushdown"]
QUARTER = [f"quarter-{name}" for name in (*DEPENDENCIES, *PHRASES)]
SEEDS = [f"{name}-seed1" for name in QUARTER if name not in ("quarter-arc", "quarter-word")]
RATES = [
    f"sixteenth-{name}-rate{rate}"
    for name in ("dtg", "trans", "tokens", "tg", "pushdown")
    for rate in ("5e-4", "1e-3", "2e-3")
]
PROJECTED = {f"{name}-projected": name for name in ("tg", "plm", "plm-mask", "pushdown")}
ONCE = ("eager", "swift", "parsed", "pretrained", "tg", "plm", "plm-mask", "pushdown", "tg-projected")
TWICE = ("dtg", "trans", "tokens", "hybrid", "tg", "pushdown", "tg-projected")
THRICE = ("dtg", "trans", "tokens", "hybrid")
OF_EIGHTH = (*THRICE, *ONCE, *(f"{name}-seed1" for name in TWICE), *(f"{name}-seed2" for name in THRICE))
EIGHTH = [f"eighth-{name}" for name in OF_EIGHTH]
FURTHER = [name for name in EIGHTH if "-seed" in name]  # of these SyntaxGym, BLiMP and the beam's perplexity are enough
EVERY = [*FULL, *QUARTER, *SEEDS, *EIGHTH]
FAMILY = {
    "trans": "txl-trans",
    "tokens": "txl-tokens",
    "eager": "dtg-eager",
    "swift": "dtg-swift",
    "hybrid": "dtg-hybrid",
    **PROJECTED,
}
KIND = {"parsed": "parsed", "pretrained": "pretrained", **dict.fromkeys(PROJECTED, "projected")} | dict.fromkeys(
    ("tg", "plm", "plm-mask", "pushdown"), "spans"
)
KINDS = {
    "": {"", "projected", "spans", "parsed", "pretrained"},
    "quarter": {"", "projected", "spans", "parsed", "pretrained"},
    "eighth": {"", "projected", "spans", "parsed", "pretrained"},
    "sixteenth": {"", "spans"},
}


@pytest.fixture
def script(tmp_path: Path) -> RecordedScript:
    return RecordedScript(SCRIPT, tmp_path)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Commands]:
    """The folder of a run of everything, and its commands."""
    script = RecordedScript(SCRIPT, tmp_path_factory.mktemp("everything"))
    return script.folder, script.commands("all")


def system(name: str) -> str:
    """What a name says beside budget, seed and rate."""
    return re.sub(r"^(quarter|eighth|sixteenth)-|-(seed\d+|rate[0-9.e-]+)$", "", name)


def budget(name: str) -> str:
    found = re.match(r"quarter|eighth|sixteenth", name)
    return found[0] if found else ""


def folder_of(budget: str, kind: str) -> str:
    return "-".join(part for part in ("corpus", budget, kind) if part)


def test_all_is_every_model_and_every_evaluation(everything: tuple[Path, Commands]) -> None:
    folder, commands = everything
    work = folder / "work"
    assert [options["out"] for options in of(commands, "train")] == [work / "runs" / name for name in (*RATES, *EVERY)]
    for kind in ("ppl", "sg", "blimp"):
        evaluated = [options for options in of(commands, "evaluate", kind) if "evaluated" in str(options["out"])]
        assert [options["name"] for options in evaluated] == EVERY
        assert [options["model"] for options in evaluated] == [work / "runs" / name / "best" for name in EVERY]
        assert all(options["beam"] is None for options in evaluated)
        assert [options["name"] for options in evaluated if options["accuracy"] == "fast"] == EIGHTH
    reranked = [name for name in EVERY if system(name) not in ("tokens", "pushdown-projected") and name not in FURTHER]
    assert [options["name"] for options in of(commands, "evaluate", "rerank")] == reranked
    for kind in ("reading", "garden-paths"):
        assert [options["name"] for options in of(commands, "evaluate", kind)] == EVERY
    whole = [options for options in of(commands, "evaluate", "ppl") if "whole" in str(options["out"])]
    assert [options["name"] for options in whole] == ["dtg", "tokens"]
    bound = [options for options in of(commands, "evaluate", "ppl") if "bound" in str(options["out"])]
    sizes = [25 if name in EIGHTH else 100 for name in EVERY for _ in range(2)]
    assert [options["sample"] for options in bound] == sizes
    assert [options["beam"] for options in bound] == [None, 1000] * len(EVERY)
    full, quarter, eighth = of(commands, "report")
    assert full["results"] == [work / "evaluated" / name for name in FULL]
    assert quarter["results"] == [work / "evaluated" / name for name in (*QUARTER, *SEEDS)]
    assert eighth["results"] == [work / "evaluated" / name for name in EIGHTH]
    heldout = (work / "heldout.conllu").read_text().split("# ")[1:]
    assert heldout == [f"{name}\n" for name in [*TREEBANKS[1:3], *TREEBANKS[4:], "dev", "test"]]


def test_all_corpora_have_the_same_words_and_subwords(everything: tuple[Path, Commands]) -> None:
    folder, commands = everything
    made = {Path(str(options["out"])).name: options for options in of(commands, "prepare")}
    folders = {folder_of(budget, kind) for budget, kinds in KINDS.items() for kind in kinds if budget or not kind}
    assert set(made) == folders | {"corpus-spans"}  # the full budget has no other trees
    first = made.pop("corpus")
    assert all(options["tokenizer"] == folder / "work/corpus/tokenizer.model" for options in made.values())
    for budget in ("quarter", "eighth", "sixteenth"):
        sample = folder / "work" / "samples" / f"{budget}.conllu"
        assert made[f"corpus-{budget}"]["train"] == [sample]
        for kind in KINDS[budget] - {"", "projected"}:
            trees = folder / "work/trees" / kind / f"{budget}.{'ptb' if kind == 'spans' else 'conllu'}"
            assert made[folder_of(budget, kind)]["train"] == [trees]
        if "projected" in KINDS[budget]:
            projected = made[f"corpus-{budget}-projected"]
            assert projected["train"] == [sample] and projected["project"] == "head"
    names = [Path(str(path)).name.split(".")[0] for path in first["train"]]  # type: ignore[attr-defined]
    assert [Path(str(path)).name.split(".")[0] for path in made["corpus-spans"]["train"]] == names  # type: ignore[attr-defined]
    parsers = {Path(str(options["out"])).parent.name: options["parser"] for options in of(commands, "parse")}
    assert [str(parsers[kind]).rpartition("/")[2] for kind in ("parsed", "pretrained", "spans")] == [
        "parser-gum",
        "pretrained",
        "parser-phrases",
    ]


def test_a_smaller_budget_is_every_so_manieth_sentence(script: RecordedScript) -> None:
    data = script.folder / "data"
    for number, name in enumerate(("en_ewt-ud-train", "en_gum-ud-train")):
        blocks = [f"# sent_id = {place + 10 * number}\n1\tword" for place in range(10)]
        (data / "ud" / f"{name}.conllu").write_text("\n\n".join(blocks) + "\n\n")
    script.run("prepare", "eighth-corpus")
    sample = (script.folder / "work/samples/eighth.conllu").read_text()
    assert re.findall("# .*", sample) == ["# train", "# sent_id = 7", "# sent_id = 15"]  # AMALGUM's is one block
    assert sample.count("1\tword\n\n") == 2


def test_proposals_are_those_of_the_parser_that_a_model_learned_from(everything: tuple[Path, Commands]) -> None:
    expected = {"spans": "parser-phrases", "pretrained": "pretrained"}
    for evaluation in ("ppl", "rerank"):
        for options in of(everything[1], "evaluate", evaluation):
            if "evaluated" not in str(options["out"]):
                continue
            if options["name"] in FURTHER:
                assert (options["by"], options["parser"]) == ("beam", None)
            else:
                kind = KIND.get(system(str(options["name"])), "")
                assert str(options["parser"]).rpartition("/")[2] == expected.get(kind, "parser-gum")
                assert options["trees"] == 300


def test_what_is_trained(everything: tuple[Path, Commands]) -> None:
    """Equal for all models of a budget but for the family, the representation of arcs, the trees, seed and rate."""
    for options in of(everything[1], "train"):
        config, settings, name = options["config"], options["set_"], Path(str(options["out"])).name
        assert isinstance(config, Path) and isinstance(settings, list | tuple)
        tables = changed(read_config(config), list(settings))
        training = TrainingConfig.from_dict(tables["training"])
        assert config.stem == ("mini" if name in FULL else "modern")
        assert training.seed == int(name.partition("-seed")[2] or 0)
        assert training.warmup_share == 0.05
        assert training.peak_rate == (float(name.partition("-rate")[2]) if "-rate" in name else 1e-3)
        assert training.words is None and training.epochs == 1
        of_phrases = {"labels": ["S"]} if system(name) in PHRASES else {}
        model = ModelConfig.from_dict({"vocabulary": 8192, **of_phrases, **tables["model"]})
        assert model.family == FAMILY.get(system(name), "dtg" if system(name) in DEPENDENCIES else system(name))
        assert model.family in FAMILIES
        assert model.arc_representation == (system(name) if system(name) in ("arc", "word") else "word+arc")
        assert Path(str(options["data"])).name == folder_of(budget(name), KIND.get(system(name), ""))
        assert options["threads"] == 1 and not options["resume"] and options["precision"] == "auto"


def test_a_second_run_goes_on(script: RecordedScript) -> None:
    script.commands("train", "quarter-parsed")
    again = script.commands("train", "quarter-parsed")
    assert [options["resume"] for options in of(again, "train")] == [True]
    assert not of(again, "parse") and not of(again, "prepare")
    shutil.rmtree(script.folder / "work" / "corpus-quarter-parsed")
    assert [options["resume"] for options in of(script.commands("prepare", "quarter-parsed"), "parse")] == [True] * 2


def test_box_puts_both_models_into_the_package(script: RecordedScript) -> None:
    commands = script.commands("bundle")
    assert [options["precision"] for options in of(commands, "train")] == ["no", "no"]  # as the cards say
    made = [arguments for program, *arguments in commands if program == "python"]
    work = script.folder / "work"
    assert [[Path(tool).name, *rest] for tool, *rest in made] == [
        ["bundle.py", str(work / "runs" / "dtg" / "best"), "dtg-mini", "--not-free"],
        ["bundle.py", str(work / "runs" / "tokens" / "best"), "txl-mini", "--not-free"],
    ]


def test_narrower_beams_are_compared_with_those_of_the_table(script: RecordedScript) -> None:
    commands = script.commands("beams")
    assert [(options["beam"], options["word_beam"]) for options in of(commands, "evaluate", "ppl")] == [
        (20, 7),
        (10, 5),
    ]
    for kind in ("sg", "blimp"):
        [options] = of(commands, "evaluate", kind)
        assert options["against"] == script.folder / "work" / "evaluated" / "dtg" / kind


def test_a_report_is_of_what_there_is(script: RecordedScript) -> None:
    script.commands("train", "trans")
    script.commands("evaluate", "trans")
    [report] = of(script.commands("report"), "report")
    assert report["results"] == [script.folder / "work" / "evaluated" / "trans"]
    listed = {line.split()[0]: line.split()[1:] for line in script.run("list").stdout.splitlines()}
    assert listed["trans"] == ["trained", "blimp", "ppl", "rerank", "sg"] and listed["dtg"] == []


def test_what_is_kept_is_reported_where_nothing_is_left(script: RecordedScript) -> None:
    script.commands("train", "eighth-tg")
    work, kept = script.folder / "work", script.folder / "kept" / "eighth-tg"
    results = work / "evaluated" / "eighth-tg" / "blimp"
    results.mkdir(parents=True)
    for name in ("results.json", "settings.json", "words.csv", "readings.csv", "part-0.jsonl"):
        (results / name).write_text(name)
    (results / "pairs.csv").write_text('pair_id,good,bad,word,right\n0,"Yes, it does.",It do.,do,1\n')
    [[_, tool, *folders]] = script.commands("keep")
    assert Path(tool).name == "keep.py" and folders == [str(work), str(kept.parent)]
    keep(work, kept.parent)
    assert sorted(path.name for path in (kept / "blimp").iterdir()) == ["pairs.csv", "results.json", "settings.json"]
    assert (
        kept / "blimp" / "pairs.csv"
    ).read_text() == "pair_id,good,bad,word,right\n0,,,,1\n"  # texts are not ours to copy
    assert (kept / "log.jsonl").is_file()
    shutil.rmtree(work)
    [report] = of(script.commands("report"), "report")
    assert report["results"] == [kept] and report["run"] == [f"eighth-tg={kept}"]
    listed = next(line for line in script.run("list").stdout.splitlines() if line.startswith("eighth-tg "))
    assert listed.split() == ["eighth-tg", "(kept)"]


def test_processes_share_an_evaluation(script: RecordedScript) -> None:
    script.environment["PROCESSES"] = "3"
    commands = script.commands("evaluate", "quarter-dtg")
    assert [command[:5] for command in commands] == [["torchrun", "--nproc-per-node", "3", "-m", "dtg"]] * 4
    [blimp] = of([["dtg", *command[5:]] for command in commands], "evaluate", "blimp")
    assert (blimp["beam"], blimp["accuracy"], blimp["limit"]) == (None, None, 100)


def test_what_was_not_trained_is_in_the_box(script: RecordedScript) -> None:
    def model(name: str) -> str:
        [options] = of(script.commands("whole", name), "evaluate", "ppl")
        return str(options["model"])

    assert [model(name) for name in ("dtg", "txl-tokens")] == ["dtg-mini", "txl-mini"]
    trained = script.folder / "work" / "runs" / "dtg" / "best"
    trained.mkdir(parents=True)
    assert model("dtg") == str(trained)


def test_mistakes(script: RecordedScript) -> None:
    assert "There is no system dgt (in quarter-dgt)" in script.run("train", "quarter-dgt", code=2).stderr
    assert "There is no corpus parser; there are: corpus" in script.run("prepare", "parser", code=2).stderr
    assert "a name; tools/results.sh list" in script.run("evaluate", code=1).stderr
    assert "tools/results.sh prepare" in script.run("everything", code=2).stdout
    del script.environment["DTG_DATA"]
    assert "is to be the folder with ud/" in script.run("all", code=1).stderr
