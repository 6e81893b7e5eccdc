"""Files and arguments that nobody means: each is answered by an error of ours, which says what was expected."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import dtg
from dtg import families
from dtg.cli.commands.report import split_at_sign
from dtg.cli.training import read_config
from dtg.errors import (
    ConfigError,
    DamagedFileError,
    DtgError,
    InputError,
    TokenizerError,
    TrainingError,
    TreebankError,
    TreeError,
)
from dtg.evaluation.report import find, gather, page_of
from dtg.evaluation.tasks.pairs.blimp_files import read_pairs
from dtg.evaluation.tasks.pairs.own_pairs import region_words
from dtg.evaluation.tasks.syntaxgym.formulas import parse_formula
from dtg.evaluation.tasks.syntaxgym.suites import read_suite
from dtg.families.picture import draw_mask
from dtg.families.reading import read
from dtg.io.devices import checked_device
from dtg.io.pictures import picture
from dtg.tables.columns import Column
from dtg.tables.sidecar import ResumePoint, Sidecar, read_sidecar
from dtg.text.sentence import Sentence
from dtg.text.tokenizer import Tokenizer
from dtg.training import TrainingConfig
from dtg.training.checkpoint import CheckpointStore
from dtg.training.sampler import Sampler
from tests.parser.parsers import small_parser
from tests.scoring.test_marginal import tiny

DIGITS, DEEP = "9" * 5_000, "[" * 100_000
SENTENCE = "1\tdog\t_\t_\t_\t_\t{}\troot\t_\t_\n\n"


def test_heads_of_very_many_digits(tmp_path: Path) -> None:
    path = tmp_path / "big.conllu"
    path.write_text(SENTENCE.format(DIGITS) + SENTENCE.format("0"))
    with pytest.raises(TreebankError, match="a head of 5,000 digits"):
        list(dtg.read_conllu(path))
    assert len(list(dtg.read_conllu(path, skip_invalid=True))) == 1


@pytest.mark.parametrize("id", ["1-", "-1", "1-²", "1--2", f"1-{DIGITS}", "1.", "1-2-3"])
def test_ids_that_are_none(id: str, tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    path.write_text(SENTENCE.format("0").rstrip("\n") + f"\n{id}\tx" + "\t_" * 8 + "\n\n", encoding="utf-8")
    with pytest.raises(TreebankError, match="the line has ID"):
        list(dtg.read_conllu(path))


@pytest.mark.parametrize("last", ["0", "1", "2", "999999999"])
def test_multiword_tokens_that_end_anywhere(last: str, tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    word = "{0}\tw{0}\t_\t_\t_\t_\t{1}\tdep\t_\t_\n"
    path.write_text(
        word.format(1, 0) + f"2-{last}\tsurface" + "\t_" * 8 + "\n" + word.format(2, 1) + word.format(3, 1) + "\n"
    )
    [tree] = dtg.read_conllu(path)
    sentence = Sentence.of_tree(tree)
    assert len(sentence.words) == len(sentence.starts) == len(sentence.whitespace) == 3


def test_regions_of_very_many_digits() -> None:
    with pytest.raises(InputError, match="not in"):
        region_words(Sentence.of_words(["a"]), DIGITS)
    with pytest.raises(InputError, match="5,000 digits"):
        parse_formula(f"({DIGITS};%a%) > (1;%b%)")


@pytest.mark.parametrize("text", [f"a = {DIGITS}", f"a = {DEEP}", "a = 1\na = 2", '"\\ud800" = 1'])
def test_configurations(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(ConfigError):
        read_config(path)


@pytest.mark.parametrize("content", [DEEP, '{"a":' + DEEP, '{"sentence_good": "a \\ud800", "UID": "x"}', DIGITS])
def test_suites_and_pairs(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match="cannot read"):
        read_suite(path)
    with pytest.raises(InputError, match="cannot read"):
        read_pairs(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("settings", []),
        ("columns", 3),
        ("given", None),
        ("finished", 1),
        ("bytes", "x"),
        ("bytes", -1),
        ("bytes", float("nan")),
        ("sentences", 1.5),
        ("rows", None),
        ("rows", True),
        ("input_sha256", 4),
    ],
)
def test_sidecars_with_other_types(name: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "out.csv.meta.json"
    whole = Sidecar.begin({"beam": 3}, {"input": "x"}, [Column("word", str, "a word")])
    content = json.loads(whole.to_json())
    (content if name in content else content["progress"])[name] = value
    path.write_text(json.dumps(content))
    with pytest.raises(DamagedFileError, match=rf"{name} in .*out\.csv\.meta\.json is "):
        read_sidecar(path)
    whole.save(path)
    assert read_sidecar(path).progress == ResumePoint()


def test_a_damaged_tokenizer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(b"")
    with pytest.raises(TokenizerError, match=r"tokenizer\.model is empty"):
        Tokenizer.load(path)
    whole = (Path(__file__).parent / "reference/tokenizer.model").read_bytes()
    for place in range(0, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x80]) + whole[place + 1 :])
        try:
            Tokenizer.load(path)
        except TokenizerError as error:
            assert str(path) in str(error)


def test_strange_folders_among_checkpoints(tmp_path: Path) -> None:
    for name in ("step-1x", "step-", f"step-{DIGITS[:100]}", "step-²"):
        (tmp_path / name).mkdir()
    store = CheckpointStore(tmp_path, keep=2)
    assert store.folders() == []
    store.write(7, {"model": {"a": torch.zeros(1)}}, {"step": 7})
    assert [folder.name for folder in store.folders()] == ["step-00000007"]


@pytest.mark.parametrize("name", ["bogus", "xpu", "meta", "vulkan", "cuda:99", "", "cpu:x", 3, None])
def test_devices(name: Any) -> None:
    with pytest.raises(InputError, match=r"device|computed|available"):
        checked_device(name)


def test_a_name_with_the_sign_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "c=run").mkdir()
    assert split_at_sign("dtg=run") == ("dtg", "=", "run")
    assert split_at_sign("a=b=run") == ("a=b", "=", "run")
    assert split_at_sign("a=c=run") == ("a", "=", "c=run")
    assert split_at_sign("a=b=nowhere") == ("a", "=", "b=nowhere")


@pytest.mark.parametrize(
    ("asked", "times"), [({"epochs": 99999999999999}, "99,999,999,999,999"), ({"words": 10**12}, "333,3")]
)
def test_absurdly_long_training_is_refused_at_once(asked: dict[str, int], times: str) -> None:
    config = TrainingConfig.from_dict({"batch_sentences": 1, "warmup_share": 0.1, **asked})
    with pytest.raises(TrainingError, match=f"would be read {times}"):
        Sampler(np.array([1, 1]), np.array([1, 2]), config, 1)


@pytest.mark.parametrize("value", [[1], {"a": 1}, None])
def test_damaged_results_are_named(value: Any, tmp_path: Path) -> None:
    given = Path(__file__).parent / "evaluation/report/results-0.1/dtg/sg"
    shutil.copytree(given, tmp_path / "sg")
    path = tmp_path / "sg/results.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["settings"] = dict.fromkeys(content["settings"], value)
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"results in .*sg"):
        page_of(gather(find([tmp_path]), {}))


def test_devices_that_are_there() -> None:
    assert checked_device("cpu") == checked_device(torch.device("cpu")) == torch.device("cpu")
    with pytest.raises(InputError, match="is not a device"):
        dtg.load(device="bogus")


def test_dollars_are_drawn_as_they_are(tmp_path: Path) -> None:
    tree = dtg.DependencyTree((r"$\frac$", "and", "$5-$6"), (0, 1, 1))
    draw_mask(read(families.get("dtg"), tree).rows, tmp_path / "mask.svg")
    with picture(tmp_path / "x.svg", "test") as figure:
        axes = figure.subplots()
        axes.set_title(r"$\frac$")
        axes.set_xticks([0], ["$a$"])
    for name in ("mask", "x"):
        # Glyph 7 is the dollar; mathematics would be set in other fonts, or not at all.
        drawn = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
        assert '"DejaVuSans-7"' in drawn and "Oblique" not in drawn


class Model:
    """Made once: every call below is refused before anything is computed."""

    language = tiny("dtg")
    parser = small_parser().eval()


M, TREE = Model, dtg.DependencyTree(("a", "b"), (0, 1))
WRONG: list[Callable[[], Any]] = [
    lambda: M.language.surprisal(None),  # type: ignore[arg-type]
    lambda: M.language.surprisal(3),  # type: ignore[arg-type]
    lambda: M.language.surprisal(b"x"),  # type: ignore[arg-type]
    lambda: M.language.surprisal([3]),  # type: ignore[list-item]
    lambda: M.language.surprisal([b"x"]),  # type: ignore[list-item]
    lambda: M.language.surprisal([TREE]),  # type: ignore[list-item]
    lambda: M.language.surprisal([{"a": 1}]),  # type: ignore[list-item]
    lambda: M.language.surprisal([["a", None]]),  # type: ignore[list-item]
    lambda: M.language.surprisal(["\ud800"]),
    lambda: M.language.surprisal([["a", "\udfff"]]),
    lambda: M.language.surprisal(["a"], beam=2**70),
    lambda: M.language.surprisal(["a"], beam=1.5),  # type: ignore[arg-type]
    lambda: M.language.marginal(3),  # type: ignore[arg-type]
    lambda: M.language.score([3]),  # type: ignore[list-item]
    lambda: M.language.begin(3).step(None),  # type: ignore[arg-type]
    lambda: M.language.begin(3).step(b"x"),  # type: ignore[arg-type]
    lambda: M.language.begin(3).step(["a"]),  # type: ignore[arg-type]
    lambda: M.language.begin(3).step("\ud800"),
    lambda: M.language.generate(1, temperature=float("inf")),
    lambda: M.language.generate(1, temperature="hot"),  # type: ignore[arg-type]
    lambda: M.language.generate(1, seed=2**70),
    lambda: M.language.generate(1, seed="x"),  # type: ignore[arg-type]
    lambda: M.language.generate("x"),  # type: ignore[arg-type]
    lambda: M.language.generate(1, top_k=1.5),  # type: ignore[arg-type]
    lambda: M.parser.parse(3),  # type: ignore[arg-type]
    lambda: M.parser.parse(["\ud800"]),
    lambda: M.parser.k_best("a b", 0),
    lambda: M.parser.k_best("a b", "x"),  # type: ignore[arg-type]
    lambda: dtg.load(None),  # type: ignore[arg-type]
    lambda: dtg.load_parser(3),  # type: ignore[arg-type]
    lambda: dtg.DependencyTree(None, None),  # type: ignore[arg-type]
    lambda: dtg.DependencyTree(("a",), 0),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_types_in_python(number: int) -> None:
    with pytest.raises(DtgError) as caught:
        WRONG[number]()
    assert isinstance(caught.value, InputError | TreeError | TokenizerError)
    assert any(said in str(caught.value) for said in ("expected", "half a surrogate", "no tree", "at least one"))


def test_words_from_anywhere_are_words() -> None:
    [expected] = M.language.surprisal([["a", "b"]], beam=3)
    for words in (np.array(["a", "b"]), iter(["a", "b"]), (word for word in "ab")):
        [found] = M.language.surprisal([words], beam=3)  # type: ignore[list-item]
        assert found.sentence.words == ("a", "b") and found.log_probability == expected.log_probability
