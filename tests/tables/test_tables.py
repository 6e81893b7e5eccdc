"""Tables: what was written comes back, and a run that was interrupted ends in the bytes of one that was not."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtg.errors import DamagedFileError, InputError, MissingExtraError
from dtg.scoring.columns import SURPRISAL_COLUMNS, surprisal_rows
from dtg.scoring.surprisal import SentenceSurprisal
from dtg.tables.columns import Column, Row
from dtg.tables.files import Existing, StreamTable, TableFile
from dtg.tables.filling import TableWatcher, fill, paired
from dtg.tables.formats import FORMATS, Encoder, Format, format_of, read_rows
from dtg.tables.items import Item, Lines, OneText, sentence_of
from dtg.tables.sidecar import Sidecar, sidecar_path
from dtg.text.sentence import Sentence
from tests.search.stand_in import StandIn, made_up

COLUMNS = (Column("id", int, "a number"), Column("word", str, "a word"), Column("value", float, "another"))
AWKWARD = [
    '"',
    ",",
    '",',
    "'",
    "#",
    "NA",
    "nan",
    "",
    " x ",
    "a\tb",
    "a\rb",
    "a\nb",
    "a\u2028b",
    "a\x85b",
    "\x1b[1m",
    "👨‍👩‍👧",
]
NUMBERS = [0.1, 1e-300, 2.0, -1 / 3, 12345678.9, 5e-324]
TEXT = 'The dog barks.\n\nI don\'t see "it", do you?\n' + "".join(
    f"Sentence number {i}, no more.\n" for i in range(3, 11)
)


def awkward_rows() -> list[Row]:
    return [(i, word, NUMBERS[i % len(NUMBERS)]) for i, word in enumerate(AWKWARD)]


@pytest.mark.parametrize(("format", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_csv_comes_back(format: Format, delimiter: str) -> None:
    encoder = Encoder(format, COLUMNS)
    text = (encoder.header() + encoder.encode(awkward_rows())).decode()
    back = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    assert back[0] == ["id", "word", "value"]
    assert [(int(id), word, float(value)) for id, word, value in back[1:]] == awkward_rows()


@pytest.mark.parametrize(("format", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_csv_comes_back_in_pandas(format: Format, delimiter: str) -> None:
    pandas = pytest.importorskip("pandas")
    encoder, rows = Encoder(format, COLUMNS), [row for row in awkward_rows() if row[1]]
    content = encoder.header() + encoder.encode([*rows, (99, "<END>", None)])
    frame = pandas.read_csv(io.BytesIO(content), sep=delimiter, keep_default_na=False, na_values=[""])
    assert frame.word.tolist() == [*(row[1] for row in rows), "<END>"]
    assert frame.value.tolist()[:-1] == pytest.approx([row[2] for row in rows])
    assert frame.value.isna().tolist() == [False] * len(rows) + [True]


@given(st.lists(st.tuples(st.integers(), st.text(), st.floats(allow_nan=False, allow_infinity=False))))
def test_any_text_comes_back(rows: list[Row]) -> None:
    encoder = Encoder("csv", COLUMNS)
    text = encoder.encode(rows).decode("utf-8", "surrogatepass")
    back = csv.reader(io.StringIO(text, newline=""))
    assert [(int(id), word, float(value)) for id, word, value in back] == rows
    lines = Encoder("jsonl", COLUMNS).encode(rows).decode().split("\n")
    assert [tuple(json.loads(line).values()) for line in lines[:-1]] == rows and lines[-1] == ""


def test_the_format_follows_the_name() -> None:
    assert [format_of(Path(f"a.b.{format.upper()}")) for format in FORMATS] == list(FORMATS)
    with pytest.raises(InputError, match=r"Let it end in \.csv, \.tsv, \.jsonl, \.parquet, or pass --format"):
        format_of(Path("out.txt"))


class Stop(Exception):  # noqa: N818 - not an error
    """Ends a run in the middle."""


class Stopping(TableWatcher):
    """Counts sentences, and stops after some."""

    def __init__(self, after: int = -1) -> None:
        self.after, self.read_past = after, list[int]()
        self.written = list[int]()

    def skipped(self, item: Item[object]) -> None:
        self.read_past.append(item.sentence_id)

    def wrote(self, item: Item[object]) -> None:
        self.written.append(item.sentence_id)
        if len(self.written) == self.after:
            raise Stop


def run(
    path: Path,
    *,
    existing: Existing = "error",
    stop: int = -1,
    beam: int = 300,
    text: str = TEXT,
    format: Format = "csv",
) -> Stopping:
    """Fill a table from text with the stand-in, in groups of 3."""
    model, watcher = StandIn(ahead=1), Stopping(stop)
    source = path.with_name("input.txt")
    source.write_text(text, encoding="utf-8", newline="")

    def compute(items: Iterator[Item[str]]) -> Iterable[SentenceSurprisal]:
        return model.surprisal_stream(sentence_of(item.content, tokenized=False) for item in items)

    def rows(item: Item[str], result: SentenceSurprisal) -> list[Row]:
        return surprisal_rows(result, item.sentence_id, end=True)

    sidecar = Sidecar.begin({"beam": beam, "unit": "bits"}, {"input": "input.txt"}, SURPRISAL_COLUMNS)
    with closing(TableFile.open(path, format, SURPRISAL_COLUMNS, sidecar, existing)) as table:
        fill(table, Lines.of_file(source), compute, rows, group=3, watcher=watcher)
    return watcher


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("stop", [1, 2, 3, 4, 9, 10])
def test_resumed_is_uninterrupted(tmp_path: Path, format: Format, stop: int) -> None:
    """Whatever the moment: nothing of the sentences is lost, and every file is the same to the byte."""
    if format == "parquet":
        pytest.importorskip("pyarrow")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    run(whole / f"out.{format}", format=format)
    out = parts / f"out.{format}"
    with pytest.raises(Stop):
        run(out, stop=stop, format=format)
    growing = parts / "out.parquet.rows.jsonl" if format == "parquet" else out
    assert json.loads((parts / f"out.{format}.meta.json").read_text())["finished"] is False
    with growing.open("ab") as file:
        file.write(b'7,1,"torn')  # as a process leaves it that is killed while it writes
    watcher = run(out, existing="resume", format=format)
    groups = (stop - 1) // 3  # those that were whole when the run ended: it ended before its last was recorded
    assert watcher.read_past == ([] if groups == 0 else [3 * groups + 1])  # line 2 is empty
    assert len(watcher.written) == 10 - 3 * groups
    assert files_of(parts) == files_of(whole)
    again = run(out, existing="resume", format=format)
    assert again.written == [] and files_of(parts) == files_of(whole)


def test_interrupted_twice(tmp_path: Path) -> None:
    for folder in ("whole", "parts"):
        (tmp_path / folder).mkdir()
    run(tmp_path / "whole" / "out.csv")
    for stop in (5, 1, 4):  # with nothing there, resuming begins
        with pytest.raises(Stop):
            run(tmp_path / "parts" / "out.csv", existing="resume", stop=stop)
    run(tmp_path / "parts" / "out.csv", existing="resume")
    assert files_of(tmp_path / "parts") == files_of(tmp_path / "whole")


def test_what_the_table_holds(tmp_path: Path) -> None:
    run(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ids = list(dict.fromkeys(int(row["sentence_id"]) for row in rows))
    assert ids == [1, *range(3, 12)][: len(ids)] and len(ids) == 10  # the empty line keeps its number
    lines = TEXT.split("\n")
    for row in rows:
        if row["word"] != "<END>":
            line = lines[int(row["sentence_id"]) - 1]
            assert line[int(row["char_start"]) : int(row["char_end"])] == row["word"]
            assert line.split()[int(row["whitespace_id"]) - 1] == row["whitespace_word"]
    meta = json.loads((tmp_path / "out.csv.meta.json").read_text())
    assert meta["finished"] and meta["settings"] == {"beam": 300, "unit": "bits"}
    assert list(meta["columns"]) == list(rows[0])
    assert meta["progress"]["rows"] == len(rows) and meta["progress"]["bytes"] == (tmp_path / "out.csv").stat().st_size


def test_parquet_holds_the_same_and_says_how_it_was_made(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow.parquet import read_table

    run(tmp_path / "out.parquet", format="parquet")
    run(tmp_path / "out.jsonl", format="jsonl")
    table = read_table(tmp_path / "out.parquet")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert table.to_pylist() == [json.loads(line) for line in lines]
    meta = json.loads(table.schema.metadata[b"dtg"])
    assert meta["settings"]["unit"] == "bits" and meta["finished"]
    assert not (tmp_path / "out.parquet.rows.jsonl").exists()


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"a Parquet table needs pyarrow.*\.\[tables\]"):
        run(tmp_path / "out.parquet", format="parquet")
    assert not (tmp_path / "out.parquet.meta.json").exists()


def test_existing_tables_are_not_touched(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    run(out)
    with pytest.raises(InputError, match=r"out.csv exists. Pass --resume to continue it, --overwrite to start over"):
        run(out)
    run(out, existing="overwrite", beam=10)
    assert json.loads(sidecar_path(out).read_text())["settings"]["beam"] == 10
    with pytest.raises(InputError, match=r"other settings.\nbeam is 300, and was 10.\nGive the same options again"):
        run(out, existing="resume")
    with pytest.raises(InputError, match="the first 10 sentences of the input are not those that the table"):
        run(out, existing="resume", beam=10, text=TEXT.replace("number 7", "number x"))
    with pytest.raises(InputError, match="the first 10 sentences of the input are not those"):
        run(out, existing="resume", beam=10, text="One.\n")
    with pytest.raises(InputError, match="finished, but the input has grown"):
        run(out, existing="resume", beam=10, text=TEXT + "One more.\n")
    out.with_name("out.csv.meta.json").unlink()
    with pytest.raises(InputError, match=r"cannot resume .*out.csv: out.csv.meta.json is not there"):
        run(out, existing="resume")


def test_damaged_beginnings_are_not_resumed(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    with pytest.raises(Stop):
        run(out, stop=5)
    whole = out.read_bytes()
    out.write_bytes(whole[:100])
    with pytest.raises(InputError, match=r"has 100 bytes where [\d,]+ had been written; it was changed or cut off"):
        run(out, existing="resume")
    out.write_bytes(whole)
    beside = sidecar_path(out)
    content = json.loads(beside.read_text())
    for damaged, message in (
        ("{", "cannot read"),
        ("[]", "is not a file that dtg writes beside a table"),
        (json.dumps({**content, "format_version": 9}), "has format_version 9; this dtg reads 1"),
        (json.dumps({**content, "progress": {}}), "is not what dtg writes"),
    ):
        beside.write_text(damaged)
        with pytest.raises(InputError, match=message):
            run(out, existing="resume")


def test_where_no_table_can_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the folder .*nowhere does not exist"):
        TableFile.open(tmp_path / "nowhere" / "a.csv", "csv", COLUMNS, Sidecar.begin({}, {}, COLUMNS))
    with pytest.raises(InputError, match="it is a folder"):
        TableFile.open(tmp_path, "csv", COLUMNS, Sidecar.begin({}, {}, COLUMNS))
    with pytest.raises(InputError, match=r"pass --out FILE.parquet"):
        StreamTable(io.BytesIO(), "parquet", COLUMNS)


def test_results_come_as_they_are_ready() -> None:
    """No more is read than the model wants to look ahead, and every sentence can be seen before the next is computed."""
    model, stream = StandIn(ahead=2), io.BytesIO()
    read = list[int]()

    def items() -> Iterator[Item[str]]:
        for number in range(1, 8):
            read.append(number)
            yield Item(number, f"word{number}", b"")

    def compute(items: Iterator[Item[str]]) -> Iterable[SentenceSurprisal]:
        return model.surprisal_stream(sentence_of(item.content, tokenized=True) for item in items)

    pairs = paired(items(), compute)
    item, result = next(pairs)
    assert (item.sentence_id, result.words, read) == (1, ("word1",), [1, 2, 3])
    assert [item.sentence_id for item, _ in pairs] == list(range(2, 8))
    table = StreamTable(stream, "csv", SURPRISAL_COLUMNS)
    fill(table, items(), compute, lambda item, result: surprisal_rows(result, item.sentence_id), group=4)
    assert [line.split(b",")[2] for line in stream.getvalue().splitlines()[1:]] == [b"word%d" % i for i in range(1, 8)]


def lines_of(content: bytes) -> Lines:
    return Lines(lambda: io.BytesIO(content), "input.txt")


def test_lines() -> None:
    lines = lines_of("\ufeffOne.\r\n\n \t \nTwo \u2028 parts\x85.".encode())
    assert [(item.sentence_id, item.content) for item in lines] == [(1, "One."), (4, "Two \u2028 parts\x85.")]
    assert lines.empty == 2


def test_gzipped_lines(tmp_path: Path) -> None:
    content = gzip.compress(b"One.\nTwo.\n" * 2000)
    (tmp_path / "a.gz").write_bytes(content)
    lines = Lines.of_file(tmp_path / "a.gz")
    items = list(lines)
    assert len(items) == 4000 and lines.size == items[-1].position == len(content)
    (tmp_path / "b.gz").write_bytes(content[:-20])
    with pytest.raises(InputError, match=r"b.gz, line \d+: the compressed file breaks off"):
        list(Lines.of_file(tmp_path / "b.gz"))


def test_lines_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"input.txt, line 2: byte 3 of the line is 0xe9, which is not UTF-8.\nConvert"
    ):
        list(lines_of("One.\ncafé\n".encode("latin-1").replace(b"caf", b"ca")))
    with pytest.raises(InputError, match="line 1: it holds a NUL character"):
        list(lines_of("One.".encode("utf-16-le")))
    with pytest.raises(InputError, match="there is no such file"):
        Lines.of_file(tmp_path / "missing.txt")
    with pytest.raises(InputError, match="it is a folder; a file with one sentence per line is expected"):
        Lines.of_file(tmp_path)


def test_one_text() -> None:
    assert [item.content for item in OneText("Two\nlines.")] == ["Two\nlines."]
    with pytest.raises(InputError, match=r"the text '  ' is empty. Give a sentence"):
        OneText("  ")
    with pytest.raises(InputError, match="character 2 of the text is not valid UTF-8"):
        OneText("a\udce9")


def test_the_stand_in_fits_together() -> None:
    result = made_up(Sentence.of_text("I don't see it."))
    assert result.log_probability == pytest.approx(-(result.surprisals.sum() + result.end_surprisal))
    assert result.surprisals == pytest.approx(result.lexical + result.structural)


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.csv", "\ufeffitem;word\r\n1;a,b\r\n", [{"item": "1", "word": "a,b"}]),
        ("a.csv", 'sep=;\n"item";"word"\n1;"a;b"\n', [{"item": "1", "word": "a;b"}]),
        ("a.csv", "item\tword\n1\ta\n", [{"item": "1", "word": "a"}]),
        ("a.csv", "sentence\nDogs; cats\n", [{"sentence": "Dogs; cats"}]),
        (
            "a.tsv",
            'item\tword\n1\t"""Come"\n2\t"a\tb"\n',
            [{"item": "1", "word": '"Come'}, {"item": "2", "word": "a\tb"}],
        ),
        ("a.tsv", 'item\tword\n1\t"Come\n2\there"\n', [{"item": "1", "word": '"Come'}, {"item": "2", "word": 'here"'}]),
        ("a.txt", '"item"  "word"\n"1" 1 "a b"\n', [{"": "1", "item": "1", "word": "a b"}]),
        ("a.dat", "item word\n 1   a \n", [{"item": "1", "word": "a"}]),
    ],
)
def test_separators_are_found_out(name: str, content: str, rows: list[dict[str, str]], tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content.encode())
    assert [row for _, row in read_rows(tmp_path / name)] == rows


def test_encodings_of_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("word\ndon’t\n".encode("utf-16"))
    assert [row for _, row in read_rows(path)] == [{"word": "don’t"}]
    path.write_bytes("word\ndon’t\n".encode("cp1252"))
    assert [row for _, row in read_rows(path, guess_encoding=True)] == [{"word": "don’t"}]
    with pytest.raises(DamagedFileError, match=r"it is not UTF-8. Convert the file to UTF-8 \(in Excel"):
        list(read_rows(path))
