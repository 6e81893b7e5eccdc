"""Tables as corpora and laboratories write them: made-up times in the columns, numbers and separators of each."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dtg.errors import DtgError, InputError
from dtg.evaluation.tasks.reading.data import ReadingTimes, read_times
from tests.evaluation.reading.test_reading import write

TEXTS = {
    "1": ["The old dog barked.", "Nobody heard it, of course."],
    "2": ["“Come here,” she said.", "He didn't. Why?"],
}
WORDS = [word for text in TEXTS.values() for sentence in text for word in sentence.split()]
READERS = ("ann", "bob", "cy")
Row = dict[str, Any]


def readings() -> Iterator[Row]:
    """A row for each word and reader, with every number that a corpus may have."""
    for who, reader in enumerate(READERS):
        for trial, (text, sentences) in enumerate(sorted(TEXTS.items(), reverse=who % 2 == 1), start=1):
            in_text = 0
            for number, sentence in enumerate(sentences, start=1):
                for place, word in enumerate(sentence.split(), start=1):
                    in_text += 1
                    yield {
                        "who": reader,
                        "trial": trial,
                        "text": text,
                        "sentence": number,
                        "place": place,
                        "in_text": in_text,
                        "word": word,
                        "time": 200 + 20 * who + 10 * len(word),
                    }


def table(columns: Callable[[Row], Row]) -> list[Row]:
    return [columns(row) for row in readings()]


def provo(row: Row) -> Row:
    return {
        "Participant_ID": row["who"],
        "Word_Unique_ID": f"QID{row['text']}-{row['in_text']}",
        "Text_ID": row["text"],
        "Word_Number": row["in_text"],
        "Sentence_Number": row["sentence"],
        "Word_In_Sentence_Number": row["place"],
        "Word": row["word"],
        "IA_FIRST_FIXATION_DURATION": row["time"] - 50,
        "IA_FIRST_RUN_DWELL_TIME": row["time"] if row["place"] != 2 else "NA",
        "IA_DWELL_TIME": row["time"] + 90,
        "IA_SKIP": int(row["place"] == 2),
    }


def geco(row: Row) -> Row:
    """Texts are parts of a book, whose trials are numbered within the part; a full stop is a missing time."""
    return {
        "PP_NR": row["who"],
        "PART": row["text"],
        "TRIAL": 5,
        "WORD_ID_WITHIN_TRIAL": row["in_text"],
        "WORD_ID": f"{row['text']}-5-{row['in_text']}",
        "WORD": row["word"],
        "WORD_GAZE_DURATION": row["time"] if row["place"] != 2 else ".",
        "WORD_TOTAL_READING_TIME": row["time"] + 90,
    }


def meco(row: Row) -> Row:
    """Words are numbered within texts, and sentences have numbers, too."""
    return {
        "uniform_id": row["who"],
        "lang": "en",
        "trialid": row["text"],
        "sentnum": row["sentence"],
        "ianum": row["in_text"],
        "ia": row["word"],
        "skip": 0,
        "dur": row["time"] + 80,
        "firstrun.dur": row["time"],
        "firstfix.dur": row["time"] - 50,
    }


def brown(row: Row) -> Row:
    number = 10 * int(row["text"]) + row["in_text"]
    return {"word": row["word"], "code": number, "subject": row["who"], "text_id": row["text"]} | {
        "text_pos": row["in_text"] - 1,
        "word_in_exp": row["in_text"] + 100 * row["trial"],
        "time": row["time"],
    }


def ucl(row: Row) -> Row:
    return {
        "subj_nr": READERS.index(row["who"]) + 1,
        "sent_nr": 10 * int(row["text"]) + row["sentence"],
        "sent_pos": row["trial"],  # of the sentence, among those that this reader saw
        "correct": "c",
        "word_pos": row["place"],
        "word": row["word"],
        "RTfirstfix": 0 if row["place"] == 2 else row["time"] - 40,
        "RTfirstpass": 0 if row["place"] == 2 else row["time"],
    }


def celer(row: Row) -> Row:
    """The number of the trial is another for every reader."""
    return {
        "RECORDING_SESSION_LABEL": row["who"],
        "trial": 2 * row["trial"] + row["sentence"],
        "sentenceid": f"wsj_{row['text']}_{row['sentence']}",
        "IA_ID": row["place"],
        "IA_LABEL": row["word"],
        "IA_FIRST_RUN_DWELL_TIME": row["time"],
    }


def maze(row: Row) -> Row:
    return {
        "subject": row["who"],
        "story_num": row["text"],
        "sentence": row["sentence"],
        "word_num": row["in_text"],
        "word": row["word"],
        "rt": row["time"] + 400,
        "correct": "no" if row["place"] == 2 else "yes",
    }


LAYOUTS = {"provo": provo, "geco": geco, "meco": meco, "brown": brown, "ucl": ucl, "celer": celer, "maze": maze}
TIMES = {
    "provo": "IA_FIRST_RUN_DWELL_TIME",
    "geco": "WORD_GAZE_DURATION",
    "meco": "firstrun.dur",
    "ucl": "RTfirstpass",
    "celer": "IA_FIRST_RUN_DWELL_TIME",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_corpora_are_read_without_options(name: str, tmp_path: Path) -> None:
    found = read_times(write(tmp_path / f"{name}.csv", table(LAYOUTS[name])), {})
    assert [one.word for one in found.words] == WORDS
    if name in TIMES:
        assert found.columns["time"] == (TIMES[name],)
    starts = [one.word for one in found.words if one.position == 1]
    assert starts[:4] == ["The", "Nobody", "“Come", "He"]
    by_stop = name in ("geco", "brown")  # which have no numbers of sentences
    assert [one.position for one in found.words[-3:]] == ([1, 2, 1] if by_stop else [1, 2, 3])
    has_gaps = name in ("provo", "geco", "ucl")
    assert [one.readings for one in found.words if one.word in ("old", "heard")] == [0 if has_gaps else 3] * 2
    assert found.words[0].time == 250 + (400 if name == "maze" else 0)
    stories = {"1", "2"} if name not in ("ucl", "celer", "geco") else {"1 5", "2 5"} if name == "geco" else {""}
    assert {one.story for one in found.words} == stories
    assert found.is_read_on == (name not in ("ucl", "celer"))
    assert f"time {found.columns['time'][0]}" in found.notes[0]


def test_other_measures_are_named(tmp_path: Path) -> None:
    found = read_times(write(tmp_path / "meco.csv", table(meco)), {})
    assert "(not read: dur, firstfix.dur)" in found.notes[0]
    assert read_times(tmp_path / "meco.csv", {"time": "dur"}).words[0].time == 330


def test_only_some_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "maze.csv", table(maze))
    every = read_times(path, {})
    assert "rows count whatever their correct is; of a maze task, only those that are right should." in every.notes
    right = read_times(path, {}, only={"correct": ["YES"]})
    assert "36 of 48 rows have correct YES; the times of the others do not count." in right.notes
    assert [one.word for one in right.words] == WORDS and not any("whatever" in one for one in right.notes)
    assert [one.readings for one in right.words[:4]] == [3, 0, 3, 3]
    part = read_times(path, {}, only={"story_num": ["2"], "correct": ["yes"]})
    assert [one.word for one in part.words] == WORDS[9:]
    assert "21 of 48 rows have story_num 2; the others are left out." in part.notes
    with pytest.raises(InputError, match=r"no row has correct 1. What it has there: yes, no."):
        read_times(path, {}, only={"correct": ["1"]})
    with pytest.raises(InputError, match="has no column 'right'"):
        read_times(path, {}, only={"right": ["1"]})


def same(found: ReadingTimes) -> bool:
    return [(one.word, one.readings) for one in found.words] == [(word, 3) for word in WORDS]


def simple(row: Row) -> Row:
    return {name: row[name] for name in ("who", "text", "sentence", "place", "word", "time")} | {
        "position": row["place"],
        "reading time": f"{row['time']},5",
    }


def test_a_european_spreadsheet(tmp_path: Path) -> None:
    """Semicolons, decimal commas, a byte order mark and Windows line ends."""
    rows = [{key: row[key] for key in row if key not in ("time", "place")} for row in table(simple)]
    lines = [";".join(rows[0]), *(";".join(map(str, row.values())) for row in rows)]
    (tmp_path / "times.csv").write_bytes("\ufeff".encode() + "\r\n".join(lines).encode() + b"\r\n")
    found = read_times(tmp_path / "times.csv", {})
    assert same(found) and found.words[0].time == 250.5
    assert "commas in reading time are decimal commas." in found.notes
    thousands = [{**row, "reading time": f"{1000 + row['position']:,}"} for row in rows]
    found = read_times(write(tmp_path / "thousands.csv", thousands), {})
    assert found.words[0].time == 1001 and "commas in reading time are between thousands." in found.notes


def test_windows_encoding(tmp_path: Path) -> None:
    rows = table(simple)
    lines = ["\t".join(rows[0]), *("\t".join(map(str, row.values())) for row in rows)]
    (tmp_path / "times.tsv").write_bytes("\n".join(lines).encode("cp1252"))
    found = read_times(tmp_path / "times.tsv", {})
    assert same(found) and "times.tsv is not UTF-8; it was read as Windows-1252" in found.notes[0]
    (tmp_path / "unicode.txt").write_bytes("\n".join(lines).encode("utf-16"))
    assert same(read_times(tmp_path / "unicode.txt", {}))


@pytest.mark.parametrize("separator", [" ", "\t"])
def test_what_r_writes(separator: str, tmp_path: Path) -> None:
    """Names of rows, without a name of their own; quotation marks around all text; gzipped."""
    rows = table(ucl)
    names = separator.join(f'"{name}"' for name in rows[0])
    quoted = [[f'"{value}"' if isinstance(value, str) else str(value) for value in row.values()] for row in rows]
    lines = [names, *(separator.join([f'"{number}"', *row]) for number, row in enumerate(quoted, start=1))]
    with gzip.open(tmp_path / "times.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    assert [one.word for one in read_times(tmp_path / "times.txt.gz", {}).words] == WORDS


def test_quotation_marks_that_belong_to_words(tmp_path: Path) -> None:
    rows = [{**row, "word": row["word"].replace("“", '"').replace("”", '"')} for row in table(brown)]
    lines = ["\t".join(rows[0]), *("\t".join(map(str, row.values())) for row in rows)]
    (tmp_path / "times.tsv").write_text("\n".join(lines), encoding="utf-8")
    words = [one.word for one in read_times(tmp_path / "times.tsv", {}).words]
    assert words[9:11] == ['"Come', 'here,"']


LATIN_SQUARE = {
    ("1", "a"): "The horse raced past the barn fell down.",
    ("1", "b"): "The horse that was raced past the barn fell down.",
    ("2", "a"): "While she ate the soup cooled.",
    ("2", "b"): "While she ate, the soup cooled.",
}


def latin_square(*names: str) -> list[Row]:
    rows = []
    for who in range(4):
        for (item, condition), sentence in LATIN_SQUARE.items():
            if (int(item) + who) % 2 == (condition == "b"):
                for place, word in enumerate(sentence.split(), start=1):
                    row = {"participant": who, "item": f"{item}.0", "condition": condition, "word": word}
                    row |= {"position": place, "rt": 300 + 10 * place, "sentence": sentence}
                    rows.append(row)
    return [{name: row[name] for name in names} for row in rows]


def test_a_latin_square_without_a_column_of_sentences(tmp_path: Path) -> None:
    """The condition tells versions apart; nobody reads one after the other."""
    names = ("participant", "item", "condition", "position", "word", "rt")
    found = read_times(write(tmp_path / "times.csv", latin_square(*names)), {})
    for (item, condition), sentence in LATIN_SQUARE.items():
        words = [one.word for one in found.words if (one.story, one.sentence) == (item, f"1 {condition}")]
        assert words == sentence.split()
    assert len(found.words) == sum(len(text.split()) for text in LATIN_SQUARE.values())
    assert {one.story for one in found.words} == {"1", "2"} and not found.is_read_on
    assert found.columns["sentence"] == ("condition",)
    assert all(one.readings == 2 for one in found.words)
    other = [{("version2" if name == "condition" else name): row[name] for name in row} for row in latin_square(*names)]
    with pytest.raises(InputError, match="version2 would tell them apart"):
        read_times(write(tmp_path / "other.csv", other), {})


def test_whole_sentences_beside_numbers_of_words(tmp_path: Path) -> None:
    rows = latin_square("participant", "item", "condition", "sentence", "position", "rt")
    found = read_times(write(tmp_path / "times.csv", rows), {})
    assert [one.word for one in found.words[:3]] == ["The", "horse", "that"]
    assert len(found.words) == sum(len(text.split()) for text in LATIN_SQUARE.values())
    assert "words are those of 4 sentences in the column sentence, by sentence." in found.notes
    assert not found.is_read_on and {one.story for one in found.words} == {"1", "2"}


def test_stimuli_whose_names_differ_in_case(tmp_path: Path) -> None:
    stimuli = [{"Item": item, "Condition": c, "Sentence": text} for (item, c), text in LATIN_SQUARE.items()]
    times = write(tmp_path / "times.csv", latin_square("participant", "item", "condition", "position", "rt"))
    found = read_times(times, {}, sentences=write(tmp_path / "stimuli.csv", stimuli))
    assert len(found.words) == sum(len(text.split()) for text in LATIN_SQUARE.values()) and not found.is_read_on


def test_stimuli_with_another_name_for_sentences(tmp_path: Path) -> None:
    """The only column of several words has them; where there are two, the user is asked."""
    times = [{"Item": 1, "position": n, "time": 300 + n} for n in range(1, 5)]
    stimuli = [{"Item": 1, "Satz": "The old dog barked."}]
    path = write(tmp_path / "times.csv", times)
    found = read_times(path, {}, sentences=write(tmp_path / "stimuli.csv", stimuli))
    assert [word.word for word in found.words] == ["The", "old", "dog", "barked."]
    two = [{**row, "Frage": "Did the dog bark?"} for row in stimuli]
    with pytest.raises(InputError, match=r"Several may be meant: Satz, Frage\. Call the one with the sentences"):
        read_times(path, {}, sentences=write(tmp_path / "stimuli.csv", two))


def test_regions_of_several_words(tmp_path: Path) -> None:
    rows = [
        {"subject": who, "item": 1, "region": number, "region_text": text, "rt": 500}
        for who in "ab"
        for number, text in enumerate(("The old dog", "that we", "saw", "barked."), start=1)
    ]
    found = read_times(write(tmp_path / "regions.csv", rows), {})
    assert [one.word for one in found.words] == ["The old dog", "that we", "saw", "barked."]
    assert any("4 rows with several words (regions)" in note for note in found.notes)
    whole = [{**row, "region_text": "The old dog barked."} for row in rows]
    with pytest.raises(InputError, match="region_text has whole sentences, the same in row after row"):
        read_times(write(tmp_path / "whole.csv", whole), {})


def test_rows_without_words_or_numbers(tmp_path: Path) -> None:
    rows = table(provo)
    empty = {
        **rows[0],
        "Word": "NA",
        "IA_FIRST_RUN_DWELL_TIME": "NA",
        "Word_Number": "NA",
        "Word_In_Sentence_Number": "NA",
    }
    found = read_times(write(tmp_path / "provo.csv", [*rows, empty]), {})
    assert [one.word for one in found.words] == WORDS
    assert "1 row without a word and without a time left out." in found.notes
    found = read_times(write(tmp_path / "provo.csv", [*rows, {**empty, "Word": "dog"}]), {})
    assert [one.word for one in found.words] == WORDS
    assert "1 row without a number in Word_In_Sentence_Number left out." in found.notes


def test_names_that_say_it_in_part(tmp_path: Path) -> None:
    rows = [
        {"subjCode": row["who"], "text": row["text"], "word_idx": row["in_text"], "stim_word": row["word"]}
        | {"n_words": 9, "mean_gd": row["time"], "log_gd": 5.5}
        for row in readings()
    ]
    found = read_times(write(tmp_path / "times.csv", rows), {})
    assert [one.word for one in found.words] == WORDS and {one.readings for one in found.words} == {3}
    assert (
        found.notes[0] == "columns: word stim_word, time mean_gd, story text, position word_idx, participant subjCode."
    )
    with pytest.raises(InputError, match="to have the reading times"):  # which of the two?
        read_times(write(tmp_path / "two.csv", [{**row, "mean_trt": 400} for row in rows]), {})


def test_single_fixations_are_noticed(tmp_path: Path) -> None:
    rows = table(brown)
    found = read_times(write(tmp_path / "fixations.csv", [*rows, rows[3]]), {})
    assert any(note.startswith("1 reading of a word that the same participant has read before") for note in found.notes)


def test_texts_without_their_first_words(tmp_path: Path) -> None:
    rows = [row for row in table(provo) if row["Word_Number"] > 1]
    (note,) = [one for one in read_times(write(tmp_path / "provo.csv", rows), {}).notes if "beginning" in one]
    assert note.startswith("2 sentences of 4 without their beginning")


def test_a_reader_with_another_spelling(tmp_path: Path) -> None:
    rows = table(simple) * 3
    rows = [{**row, "who": f"{row['who']}{number // 48}"} for number, row in enumerate(rows)]
    rows[-1]["word"] = "Why??"
    found = read_times(write(tmp_path / "times.csv", rows), {})
    assert found.words[-1].word == "Why?"
    assert any("'Why??' and 'Why?' at word 3 of sentence 2 of story" in note for note in found.notes)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"w": who, "word": word, "rt": 300} for who in "abc" for word in "A dog barks. It stops.".split()],
            "most sentences are there several times, such as 'A dog barks.'. If several people .* Columns: w, word, rt",
        ),
        (
            [{"who": "a", "word": f"w{n}", "rt": 0.3} for n in range(3)],
            "none of the 3 times .* median is 0.3. Times in ms",
        ),
        (
            [{"word": f"w{n}", "rt": 5.8} for n in range(3)],
            "median of the times in its column rt is 5.8. .*not seconds or log",
        ),
        (
            [{"a": 1, "b": 2}],
            "to have the words .as word.*; nor the reading times .as .*which one has the words and which",
        ),
    ],
)
def test_what_is_wrong_is_said(rows: list[Row], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_times(write(tmp_path / "times.csv", rows), {})


@pytest.mark.parametrize(("name", "message"), [("a.xlsx", "Save the sheet as CSV"), ("a.rda", r"write.csv\(data")])
def test_files_that_are_no_tables(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(DtgError, match=message):
        read_times(tmp_path / name, {})
