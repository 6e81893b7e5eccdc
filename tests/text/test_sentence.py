"""Sentences: words, their places, and the whitespace words they belong to."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtg.errors import InputError, MissingExtraError
from dtg.scoring.columns import SURPRISAL_COLUMNS, surprisal_rows
from dtg.tables.columns import NATS
from dtg.tables.items import sentence_of
from dtg.text import split_words
from dtg.text.sentence import Sentence
from tests.search.stand_in import made_up


def test_text() -> None:
    #        0         1         2
    #        0123456789012345678901234
    text = "  I don't\tsee the dog."
    sentence = Sentence.of_text(text)
    assert sentence.words == ("I", "do", "n't", "see", "the", "dog", ".")
    assert sentence.starts == (2, 4, 6, 10, 14, 18, 21)
    assert sentence.ends == (3, 6, 9, 13, 17, 21, 22)
    assert sentence.whitespace == (0, 1, 1, 2, 3, 4, 4)
    assert sentence.whitespace_words == ("I", "don't", "see", "the", "dog.")
    assert sentence.text == text.replace("\t", " ")


def test_words_are_taken_as_they_are() -> None:
    sentence = Sentence.of_words(["don't", "10 000", "."])
    assert sentence.words == ("don't", "10 000", ".")
    assert sentence.text == "don't 10 000 ."
    assert (sentence.starts, sentence.ends) == ((0, 6, 13), (5, 12, 14))
    assert sentence.whitespace == (0, 1, 2) and sentence.whitespace_words == sentence.words


@given(st.text(min_size=1).filter(lambda text: text.strip()))
def test_words_stand_where_they_say(text: str) -> None:
    sentence = Sentence.of_text(text)
    places = zip(sentence.words, sentence.starts, sentence.ends, strict=True)
    assert all(text[start:end] == word == sentence.text[start:end] for word, start, end in places)
    assert sentence.whitespace_words == tuple(text.split())
    assert "".join(sentence.words) == "".join(text.split())


@given(st.lists(st.text(min_size=1), min_size=1))
def test_given_words_stand_where_they_say(words: list[str]) -> None:
    sentence = Sentence.of_words(words)
    assert sentence.text == " ".join(words)
    assert [sentence.text[a:b] for a, b in zip(sentence.starts, sentence.ends, strict=True)] == words


def test_a_tokenized_line_is_split_at_ascii_space_only() -> None:
    assert sentence_of(" do n't\t10\u00a0000 \x85x\r", tokenized=True).words == ("do", "n't", "10\u00a0000", "\x85x")
    assert sentence_of("don't", tokenized=False).words == ("do", "n't")


def test_mistakes() -> None:
    with pytest.raises(InputError, match="' ' has no words"):
        Sentence.of_text(" ")
    with pytest.raises(InputError, match=r"not the text 'The dog'; dtg\.text.split_words splits a text"):
        Sentence.of_words("The dog")
    with pytest.raises(InputError, match="there are no words"):
        Sentence.of_words([])
    with pytest.raises(InputError, match=r"word 2 of \['a', ''\] is ''; a non-empty string"):
        Sentence.of_words(["a", ""])
    with pytest.raises(InputError, match=r"word 1 of \[Word.* is Word\(text='The'.*a non-empty string is expected"):
        Sentence.of_words(split_words("The dog"))  # type: ignore[arg-type]


def test_rows_per_word() -> None:
    result = made_up(Sentence.of_text("I don't."))
    names = [column.name for column in SURPRISAL_COLUMNS]
    rows = [dict(zip(names, row, strict=True)) for row in surprisal_rows(result, 7, base="e", end=True)]
    assert [row["word"] for row in rows] == ["I", "do", "n't", ".", "<END>"]
    assert [row["word_id"] for row in rows] == [1, 2, 3, 4, 5] and {row["sentence_id"] for row in rows} == {7}
    assert [row["surprisal"] for row in rows] == [*result.surprisals.tolist(), result.end_surprisal]
    assert [row["whitespace_word"] for row in rows] == ["I", "don't.", "don't.", "don't.", None]
    assert [row["whitespace_id"] for row in rows] == [1, 2, 2, 2, None]
    assert [row["char_end"] for row in rows] == [1, 4, 7, 8, None]
    assert [name for name, value in rows[-1].items() if value is not None] == names[:4]  # <END> has a surprisal only
    in_units = {"surprisal", "lexical", "structural", "entropy", "entropy_reduction"}
    for bits, nats in zip(surprisal_rows(result, 7, base="2"), surprisal_rows(result, 7, base="e"), strict=True):
        for name, in_bits, in_nats in zip(names, bits, nats, strict=True):
            if name in in_units:
                assert isinstance(in_bits, float) and in_bits * NATS["2"] == pytest.approx(in_nats, rel=1e-12)
            else:
                assert in_bits == in_nats


def test_rows_per_whitespace_word() -> None:
    """Against the plain sums over the words of each whitespace word."""
    result = made_up(Sentence.of_text('I don\'t see the dog, "he" said.'))
    names = [column.name for column in SURPRISAL_COLUMNS]
    rows = [dict(zip(names, row, strict=True)) for row in surprisal_rows(result, 1, base="e", per="whitespace")]
    assert [row["word"] for row in rows] == 'I don\'t see the dog, "he" said.'.split()
    for number, row in enumerate(rows):
        words = [i for i, of in enumerate(result.sentence.whitespace) if of == number]
        assert row["word_id"] == row["whitespace_id"] == number + 1 and row["whitespace_word"] == row["word"]
        for name, values in (
            ("surprisal", result.surprisals),
            ("lexical", result.lexical),
            ("structural", result.structural),
            ("entropy_reduction", result.entropy_reductions),
            ("pieces", result.pieces),
        ):
            assert row[name] == pytest.approx(sum(values[i] for i in words))
        assert row["kept"] == pytest.approx(np.prod([result.kept[i] for i in words]))
        assert row["entropy"] == result.entropies[words[-1]]
        assert row["stack_depth"] == result.stack_depths[words[-1]]
        assert row["char_start"] == result.sentence.starts[words[0]]
        assert row["char_end"] == result.sentence.ends[words[-1]]


def test_no_minus_before_zero() -> None:
    result = replace(made_up(Sentence.of_words(["a"])), entropy_reductions=np.array([-0.0]))
    assert "-0.0" not in map(repr, surprisal_rows(result, 1)[0])


def test_frame() -> None:
    pandas = pytest.importorskip("pandas")
    result = made_up(Sentence.of_text("I don't."))
    frame = result.to_frame()
    assert frame.attrs == {"unit": "nats"} and list(frame.word) == list(result.words)
    assert frame.surprisal.tolist() == result.surprisals.tolist()
    assert frame.sentence_id.dtype == frame.pieces.dtype == np.int64
    with_end = result.to_frame(base="2", per="whitespace", end=True, sentence_id=3)
    assert with_end.attrs == {"unit": "bits"} and list(with_end.word) == ["I", "don't.", "<END>"]
    assert with_end.surprisal.sum() * NATS["2"] == pytest.approx(-result.log_probability)
    assert with_end.pieces.isna().tolist() == [False, False, True] and with_end.pieces.iloc[1] == 3
    assert set(pandas.concat([frame, with_end]).sentence_id) == {1, 3}


def test_frame_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"to_frame needs pandas.*\.\[tables\]"):
        made_up(Sentence.of_words(["a"])).to_frame()
