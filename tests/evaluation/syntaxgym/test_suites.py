"""Suites: the published ones as a whole, a small one in detail, and everything that can be wrong with one."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import run
from typing import Any

import pytest

from dtg.errors import InputError
from dtg.evaluation.tasks.syntaxgym import SUITE_SETS, circuit_of, read_suite, read_suites, suite_sentences
from dtg.evaluation.tasks.syntaxgym.suites import Key
from tests.evaluation.syntaxgym.made_up import content, write_suite
from tests.real_data import data_file

Change = Callable[[dict[str, Any]], object]


def test_the_published_suites_are_all_read() -> None:
    suites = read_suites(data_file("sg/number_prep.json").parent)
    assert [suite.name for suite in suites] == sorted(SUITE_SETS[0].suites)
    assert sum(len(suite.items) for suite in suites) == 842
    assert {suite.name: len(suite.predictions) for suite in suites if len(suite.predictions) > 1} == {
        "fgd_hierarchy": 2,
        "nn-nv-rpl": 2,
    }
    sentences = list(suite_sentences(suites))
    assert [sentence.sentence_id for sentence in sentences] == list(range(1, 3305))
    assert len({sentence.key for sentence in sentences}) == 3304
    # Plain sentences and single regions are split into the same words, so `dtg surprisal` reads what is meant.
    from dtg.text import split_words

    for sentence in sentences[::7]:
        words = sentence.split()
        assert list(words.words) == [word.text for word in split_words(sentence.text)]
        assert sorted(words.regions) == list(words.regions)


def test_circuits_are_those_of_the_paper() -> None:
    counts = Counter(circuit_of(name) for name in SUITE_SETS[0].suites)
    assert counts == {
        "Agreement": 3,
        "Licensing": 10,
        "Garden-path": 6,
        "Gross syntactic state": 4,
        "Centre embedding": 2,
        "Long-distance": 8,
        None: 1,
    }
    assert [len(each.suites) for each in SUITE_SETS] == [34, 33, 31]


def test_words_know_their_regions(tmp_path: Path) -> None:
    suite = read_suite(write_suite(tmp_path / "suite.json", content()))
    first, _, _, last = suite_sentences([suite])
    assert first.key == Key("number_made_up", 1, "match") and first.text == "The dog's tail is n't long ."
    words = first.split()
    assert words.words == ("The", "dog", "'s", "tail", "is", "n't", "long", ".")
    assert words.regions == (1, 1, 1, 3, 3, 4, 4, 4)
    assert last.text == "Cats do run , she says" and last.split().regions == (1, 2, 3, 4, 4, 4)
    assert str(last.key) == "suite number_made_up, item 2, condition match"


def test_a_folder_is_read_by_name(tmp_path: Path) -> None:
    write_suite(tmp_path / "1.json", content("z"))
    write_suite(tmp_path / "2.json", content("a", "mean"))
    assert [(suite.name, suite.metric) for suite in read_suites(tmp_path)] == [("a", "mean"), ("z", "sum")]
    assert read_suites(tmp_path / "1.json")[0].name == "z"
    write_suite(tmp_path / "3.json", content("z"))
    with pytest.raises(InputError, match=r"1\.json and .*3\.json are both called 'z'"):
        read_suites(tmp_path)


def item(suite: dict[str, Any], place: int) -> Any:
    return suite["items"][place]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("meta"), "suite.json: 'meta' is missing"),
        (lambda s: s["meta"].update(name=3), "suite.json, meta: 'name' must be a text; it is 3"),
        (lambda s: s["meta"].update(metric="median"), "meta: there is no metric 'median'; sum and mean are known"),
        (lambda s: s["region_meta"].pop("2"), "region_meta: regions must be numbered 1, 2, 3 ...; they are 1, 3, 4"),
        (lambda s: s.update(items=[]), "suite.json: it has no items"),
        (lambda s: s.update(predictions=[]), "suite.json: it has no predictions"),
        (lambda s: s["items"].append("x"), 'the item in place 3: an object is expected, not "x"'),
        (lambda s: item(s, 1).update(item_number=1), "item 1: 2 items have this number"),
        (lambda s: item(s, 1).update(item_number=True), "the item in place 2: 'item_number' must be a whole number"),
        (lambda s: item(s, 1)["conditions"].pop(), "item 2: there is no condition match, which other items have"),
        (lambda s: item(s, 0)["conditions"].pop(), "item 1: there is no condition mismatch, which other items have"),
        (
            lambda s: item(s, 0)["conditions"].append(item(s, 0)["conditions"][0]),
            "item 1: there are 2 conditions match; one is expected",
        ),
        (
            lambda s: item(s, 1)["conditions"][1]["regions"].pop(1),
            "item 2, condition match: regions 1 to 4 are expected, in order; they are [1, 3, 4]",
        ),
        (
            lambda s: item(s, 1)["conditions"][1]["regions"][2].update(content=None),
            "item 2, condition match, region 3: 'content' must be a text; it is null",
        ),
        (
            lambda s: [region.update(content=" ") for region in item(s, 1)["conditions"][0]["regions"]],
            "item 2, condition mismatch: every region is empty",
        ),
        (lambda s: s["predictions"][1].update(type="code"), "prediction 2: its type is 'code'"),
        (
            lambda s: s["predictions"][1].update(formula="(3;%match%) <"),
            "prediction 2, character 14 of the formula: expected a region",
        ),
        (
            lambda s: s["predictions"][0].update(formula="(3;%match%) < (5;%match%)"),
            "prediction 1, character 15 of the formula: there is no region 5; there are regions 1 to 4",
        ),
        (
            lambda s: s["predictions"][0].update(formula="(3;%match%) < (3;%Match%)"),
            "prediction 1, character 15 of the formula: there is no condition Match. There are: match, mismatch",
        ),
    ],
)
def test_what_is_wrong_is_named(change: Change, message: str, tmp_path: Path) -> None:
    suite = content()
    change(suite)
    path = write_suite(tmp_path / "suite.json", suite)
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read_suite(path)
    assert str(caught.value).startswith(f"cannot read {path}")


def test_files_that_hold_no_suite(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        read_suites(tmp_path / "none")
    with pytest.raises(InputError, match=r"there are no suites in .*: files that end in \.json are expected"):
        read_suites(tmp_path)
    path = tmp_path / "bad.json"
    for written, message in (
        (b"{", "it is not JSON"),
        (b"\xff", "byte 1 of the file is not UTF-8"),
        (b"[]", "a SyntaxGym suite is expected"),
    ):
        path.write_bytes(written)
        with pytest.raises(InputError, match=message):
            read_suite(path)


def test_scoring_needs_no_torch() -> None:
    code = (
        "import sys, dtg.evaluation.tasks.syntaxgym; assert 'torch' not in sys.modules and 'spacy' not in sys.modules"
    )
    assert run([sys.executable, "-c", code], check=False).returncode == 0
