"""Minimal pairs in a table of one's own: columns, groups, critical regions, and what is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dtg.errors import InputError
from dtg.evaluation import evaluate
from dtg.evaluation.tasks.pairs.own_pairs import region_words
from dtg.evaluation.tasks.pairs.task import MinimalPairs
from dtg.text.sentence import Sentence
from tests.scoring.test_marginal import tiny

ROWS = [
    ("The dog saw mice.", "The dog mice saw.", "order", "a"),
    ("A cat ran.", "A ran cat.", "order", "b"),
    ("Mice run.", "Mice runs.", "agreement", "c"),
]
TABLE = "good\tbad\tgroup\tnote\n" + "".join("\t".join(row) + "\n" for row in ROWS)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text(TABLE)
    return path


def test_a_table_by_groups(table: Path, tmp_path: Path) -> None:
    model = tiny("txl-tokens")
    found = evaluate(model, "pairs", table, out=tmp_path / "out", progress=False)
    log_p = {text: model.surprisal([text])[0].log_probability for row in ROWS for text in row[:2]}
    right = {row[2:]: log_p[row[0]] > log_p[row[1]] for row in ROWS}
    shares = {one.group: one.value.value for one in found.metrics if one.rule == "sentence" and one.level == "groups"}
    assert shares == {
        "agreement": 100.0 * right["agreement", "c"],
        "order": 50.0 * (right["order", "a"] + right["order", "b"]),
    }
    assert [(item["group"], item["note"]) for item in found.items] == [
        ("agreement", "c"),
        ("order", "a"),
        ("order", "b"),
    ]
    written = json.loads((tmp_path / "out/results.json").read_text())
    assert written["kind"] == "pairs" and set(written["scores"]) == {"sentence", "per_word"}
    assert written["scores"]["sentence"]["overall"]["groups"] == 2
    low, high = written["scores"]["sentence"]["groups"]["agreement"]["interval"]
    assert high - low > 50  # one pair says little
    assert {path.name for path in (tmp_path / "out").glob("*.svg")} == {"groups.svg"}
    assert "| agreement | 1 |" in (tmp_path / "out/results.md").read_text()


def test_columns_can_be_named_and_groups_left_out(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps({"yes": row[0], "no": row[1], "kind": row[2]}) + "\n" for row in ROWS))
    everything = MinimalPairs.of(path, good="yes", bad="no")
    assert {pair.group for pair in everything.pairs} == {"all"} and len(everything.pairs) == 3
    assert [pair.group for pair in MinimalPairs.of(path, good="yes", bad="no", group="kind", limit=1).pairs] == [
        "agreement", "order",
    ]  # fmt: skip
    assert len(MinimalPairs.of(path, good="yes", bad="no", sample=2).pairs) == 2
    with pytest.raises(InputError, match=r"there is no column 'good'. There are: yes, no, kind"):
        MinimalPairs.of(path)
    with pytest.raises(InputError, match="a region is one column, or one for each sentence"):
        MinimalPairs.of(path, good="yes", bad="no", region=["a", "b", "c"])
    path.write_text('{"good": "Mice run.", "bad": " "}\n')
    with pytest.raises(InputError, match="line 1: a sentence or region is empty"):
        MinimalPairs.of(path)


def test_words_of_a_region() -> None:
    sentence = Sentence.of_text("The dog didn't see the dog house.")
    assert [sentence.words[place] for place in region_words(sentence, "didn't see")] == ["did", "n't", "see"]
    assert [sentence.words[place] for place in region_words(sentence, "3-4")] == ["did", "n't", "see"]
    assert [sentence.words[place] for place in region_words(sentence, "7")] == ["house", "."]
    with pytest.raises(InputError, match=r"the region 'dog' is 2 times in .*; once is expected"):
        region_words(sentence, "dog")
    with pytest.raises(InputError, match="the region 'cat' is not in"):
        region_words(sentence, "cat")
    with pytest.raises(InputError, match="the region 8 is not among the 7 words"):
        region_words(sentence, "8")


@pytest.mark.parametrize("family", ["dtg", "txl-tokens"])
def test_pairs_at_a_critical_region(family: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(
        "good,bad,verb,other\nThe dog saw mice.,The dog sees mice.,saw,sees\nMice run.,Mice runs.,run,runs\n"
    )
    model = tiny(family)
    found = evaluate(model, "pairs", path, region=["verb", "other"], beam=6, word_beam=3, progress=False)
    alone = model.surprisal(["The dog saw mice."], beam=6, word_beam=3)[0]
    first = found.items[0]
    assert first["good_log_probability"] == pytest.approx(-alone.surprisals[2], abs=1e-9) and first["good_words"] == 1
    assert set(found.content["scores"]) == {"region", "region_per_word"} and "log p of the region" in repr(found)
    if family == "dtg":
        with pytest.raises(InputError, match="surprisals of words are found by beam"):
            evaluate(model, "pairs", path, region=["verb", "other"], by="proposal", progress=False)
