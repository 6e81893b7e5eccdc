"""Surprisals out and in: what dtg writes is read back in every format, other tokens are placed, and mistakes are named."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from dtg.errors import InputError
from dtg.evaluation.tasks.syntaxgym import (
    Key,
    Suite,
    import_surprisals,
    judge_items,
    read_suite,
    region_surprisals,
    suite_sentences,
)
from dtg.evaluation.tasks.syntaxgym.importing import align
from dtg.evaluation.tasks.syntaxgym.suites import SuiteSentence
from dtg.evaluation.tasks.syntaxgym.tables import (
    REGION_COLUMNS,
    SENTENCE_COLUMNS,
    VERDICT_COLUMNS,
    WORD_COLUMNS,
    region_rows,
    sentence_row,
    verdict_rows,
    word_rows,
)
from dtg.tables.columns import Column, Row
from dtg.tables.files import TableFile
from dtg.tables.formats import FORMATS, Format
from dtg.tables.sidecar import Sidecar
from tests.evaluation.syntaxgym.made_up import content, write_suite


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return read_suite(write_suite(tmp_path / "suite.json", content()))


def save(path: Path, format: Format, columns: Sequence[Column], rows: Sequence[Row], unit: str) -> Path:
    table = TableFile.open(path, format, columns, Sidecar.begin({"unit": unit}, {}, columns))
    table.write(rows)
    table.finish()
    return path


def made_up_rows(suite: Suite) -> list[Row]:
    """Word 1 has 1 bit, word 2 has 2 ..."""
    rows = list[Row]()
    for sentence in suite_sentences([suite]):
        words = sentence.split()
        rows += word_rows(sentence, [float(number) for number in range(1, len(words.words) + 1)])
    return rows


EXPECTED = {  # words: The dog 's | | tail is | n't long .     Cats | do | run | , she says
    Key("number_made_up", 1, "match"): (6.0, 0, 9.0, 21.0),
    Key("number_made_up", 1, "mismatch"): (6.0, 0, 9.0, 21.0),
    Key("number_made_up", 2, "mismatch"): (1.0, 0, 2.0, 12.0),
    Key("number_made_up", 2, "match"): (1.0, 2.0, 3.0, 15.0),
}


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_exported_is_imported(format: Format, suite: Suite, tmp_path: Path) -> None:
    path = save(tmp_path / f"words.{format}", format, WORD_COLUMNS, made_up_rows(suite), "bits")
    imported = import_surprisals(path, [suite])
    assert imported.surprisals == EXPECTED
    assert (imported.unit, imported.tokens, imported.straddling, imported.after_end) == ("bits", 27, 0, 0)


def test_nats_become_bits(suite: Suite, tmp_path: Path) -> None:
    path = save(tmp_path / "words.csv", "csv", WORD_COLUMNS, made_up_rows(suite), "nats")
    imported = import_surprisals(path, [suite])
    assert imported.unit == "nats"
    assert imported.surprisals[Key(suite.name, 1, "match")] == pytest.approx([x / math.log(2) for x in (6, 0, 9, 21)])
    with pytest.raises(InputError, match=r"is in nats, says words\.csv\.meta\.json; it is to be read as bits"):
        import_surprisals(path, [suite], base="2")
    beside = tmp_path / "words.csv.meta.json"
    beside.write_text(beside.read_text().replace('"finished": true', '"finished": false'))
    with pytest.raises(InputError, match="is not finished"):
        import_surprisals(path, [suite])
    beside.write_text("{}")
    with pytest.raises(InputError, match=r"is not a file that dtg writes beside a table\.\nFix it, or remove it"):
        import_surprisals(path, [suite])
    beside.unlink()
    assert import_surprisals(path, [suite]).unit == "bits"
    assert import_surprisals(path, [suite], base="e").unit == "nats"


TOKENS = (  # one line per sentence: other tools cut words where they like
    "The Ġdog's Ġt ail Ġis Ġn't Ġlong Ġ.",
    "▁The ▁ dog 's ▁tail ▁are n't long . <END>",
    "Cats run , she says . </s>",
    "Cats dorun , sh esays",  # `dorun` straddles regions 2 and 3
)


def write_tokens(path: Path, lines: Sequence[str] = TOKENS, header: str = "sentence_id,token,surprisal") -> Path:
    rows = [f'{number},"{token}",1.5' for number, line in enumerate(lines, start=1) for token in line.split(" ")]
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_other_tokens_are_placed_by_their_characters(suite: Suite, tmp_path: Path) -> None:
    imported = import_surprisals(write_tokens(tmp_path / "tokens.csv"), [suite])
    assert list(imported.surprisals.values()) == [
        (3.0, 0, 4.5, 4.5),
        (6.0, 0, 3.0, 4.5),
        (1.5, 0, 1.5, 4.5),
        (1.5, 1.5, 0, 4.5),
    ]
    assert (imported.straddling, imported.after_end) == (1, 3)


def test_the_mean_is_over_tokens() -> None:
    assert region_surprisals([1, 2, 6, 5], [1, 1, 1, 3], 3, "mean") == (3, 0, 5)
    assert region_surprisals([1, 2, 6, 5], [1, 1, 1, 3], 3, "sum") == (9, 0, 5)


def test_tokens_and_sentence_must_agree() -> None:
    sentence = SuiteSentence(1, Key("s", 1, "c"), ("The cat", "", "sat"))
    assert align(sentence, ["The", "cat", "sat"]).regions == (1, 1, 3)
    for tokens, message in (
        ("The dog sat", "suite s, item 1, condition c: token 2 is 'dog' where the sentence continues with 'catsat'"),
        (
            "<s> The cat sat",
            "token 1 is '<s>' where the sentence continues with 'Thecatsat'. Expected were the words of: The cat",
        ),
        ("the cat sat", "Leave out symbols for the beginning of a sentence; letters must be as they are in the suite"),
        ("The cat", "its 2 tokens end before 'sat'"),
        ("The cat sat down", "token 4 is 'down', but the sentence has ended"),
        ("The cat sat.", "token 3 is 'sat.' where the sentence continues with 'sat'"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            align(sentence, tokens.split())


def test_a_missing_surprisal_matters_only_where_it_is_needed(suite: Suite, tmp_path: Path) -> None:
    path = write_tokens(tmp_path / "tokens.csv")
    path.write_text(path.read_text().replace('3,"run",1.5', '3,"run",'))
    imported = import_surprisals(path, [suite])
    assert math.isnan(imported.surprisals[Key(suite.name, 2, "mismatch")][2])
    with pytest.raises(InputError, match=r"item 2: the surprisal of region \(3;%mismatch%\) is nan"):
        judge_items([suite], imported.surprisals)


def test_tables_that_do_not_fit_are_named(suite: Suite, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for lines, header, message in (
        (TOKENS[:3], "sentence_id,token,surprisal", "no rows of suite number_made_up, item 2, condition match. All"),
        (TOKENS[:1], "sentence_id,token,surprisal", "no rows of suite number_made_up, item 1, condition mismatch (and 2 more)"),
        ((*TOKENS, "x"), "sentence_id,token,surprisal", "line 32: sentence_id is 5, but the suites have sentences 1 to 4"),
        (TOKENS, "id,token,surprisal", "line 2: there must be suite, item and condition, or else sentence_id; there are id"),
        (TOKENS, "sentence_id,form,surprisal", "line 2: there must be word (or token) and surprisal; there are sentence_id, f"),
        (TOKENS, "sentence_id,token", "line 2: there are 3 fields under 2 names"),
        (["a"], "token,sentence_id,surprisal", "line 2: sentence_id must be a whole number; it is 'a'"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=re.escape(message)):
            import_surprisals(write_tokens(path, lines, header), [suite])
    path.write_text("sentence_id,token,surprisal\n1,The,x\n")
    with pytest.raises(InputError, match="line 2: surprisal must be a number; it is 'x'"):
        import_surprisals(path, [suite])
    again = write_tokens(path).read_text() + "1,The,1\n"
    path.write_text(again)
    with pytest.raises(
        InputError, match=r"item 1, condition match comes twice\. The rows of a sentence must be together"
    ):
        import_surprisals(path, [suite])
    path.write_text('sentence_id,token,surprisal\n1,"The,1\n')
    with pytest.raises(InputError, match="line 2: unexpected end of data"):
        import_surprisals(path, [suite])
    with pytest.raises(InputError, match=r"a file that ends in \.csv, \.tsv, \.jsonl, \.parquet"):
        import_surprisals(write_tokens(tmp_path / "t.doc"), [suite])
    with pytest.raises(InputError, match="there is no such file"):
        import_surprisals(tmp_path / "none.csv", [suite])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1: it is not JSON"),
        ("[]", "line 1: a JSON object is expected"),
        (
            json.dumps({"sentence_id": 1.5, "word": "The", "surprisal": 1}),
            "sentence_id must be a whole number; it is 1.5",
        ),
        (json.dumps({"sentence_id": None, "word": "The", "surprisal": 1}), "line 1: sentence_id is missing"),
        (json.dumps({"sentence_id": 1, "word": "The", "surprisal": True}), "surprisal must be a number; it is True"),
        (
            json.dumps({"suite": "number_made_up", "item": 9, "condition": "match", "word": "The", "surprisal": 1}),
            "line 1: the suites have no suite number_made_up, item 9, condition match",
        ),
    ],
)
def test_lines_that_do_not_fit_are_named(line: str, message: str, suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=re.escape(message)):
        import_surprisals(tmp_path / "t.jsonl", [suite])


def test_a_damaged_parquet_file_is_named(suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR?")
    with pytest.raises(InputError, match="it is not a Parquet file"):
        import_surprisals(tmp_path / "t.parquet", [suite])


def test_other_suites_are_left_out_and_counted(suite: Suite, tmp_path: Path) -> None:
    other = [(1, "elsewhere", 1, "c", 1, 1, "Hello", 2.0), (1, "elsewhere", 1, "c", 1, 2, "!", 2.0)]
    path = save(tmp_path / "words.csv", "csv", WORD_COLUMNS, [*other, *made_up_rows(suite)], "bits")
    imported = import_surprisals(path, [suite])
    assert imported.other_suites == 2 and imported.surprisals == EXPECTED


def test_rows_fit_their_columns(suite: Suite) -> None:
    sentence = next(suite_sentences([suite]))
    regions = region_rows(sentence, suite, EXPECTED[sentence.key])
    assert sentence_row(sentence) == (1, "number_made_up", 1, "match", "The dog's tail is n't long .")
    assert regions[1:3] == [
        (1, "number_made_up", 1, "match", 2, "auxiliary", "", 0),
        (1, "number_made_up", 1, "match", 3, "verb", "tail is", 9.0),
    ]
    verdicts = verdict_rows(judge_items([suite], EXPECTED))
    assert verdicts[:2] == [("number_made_up", "Agreement", 1, 1, 0, 1), ("number_made_up", "Agreement", 1, 2, 0, 1)]
    rows_and_columns = (
        ([sentence_row(sentence)], SENTENCE_COLUMNS),
        (made_up_rows(suite), WORD_COLUMNS),
        (regions, REGION_COLUMNS),
        (verdicts, VERDICT_COLUMNS),
    )
    for rows, columns in rows_and_columns:
        assert {len(row) for row in rows} == {len(columns)}
