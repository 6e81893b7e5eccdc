"""CoNLL-U files: what survives a round trip, and how each kind of bad input is answered."""

from __future__ import annotations

import gzip
import lzma
import tracemalloc
from pathlib import Path

import pytest

from dtg import DependencyTree, read_conllu, read_treebank, write_conllu
from dtg.errors import InputError, TreebankError, UnknownNameError
from dtg.trees import TreebankReport
from tests.real_data import data_file

GOOD = (
    "1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t2:nsubj\t_\n"
    "2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t0:root\tSpaceAfter=No\n"
)
FULL = (
    "# newdoc id = d1\n# sent_id = 1\n# text = Don't\n"
    "1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "1\tDo\tdo\tAUX\tVB\tMood=Imp\t0\troot\t0:root\tGloss=x|y\n"
    "2\tn't\tnot\tPART\tRB\t_\t1\tadvmod\t1:advmod\t_\n"
    "2.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t1:xcomp\t_\n\n"
)


def line(number: int, form: str, head: object, label: str = "dep") -> str:
    return f"{number}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n"


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_reads_words_heads_labels(tmp_path: Path) -> None:
    (tree,) = read_conllu(written(tmp_path / "a.conllu", GOOD + "\n"))
    assert tree == DependencyTree(("Dogs", "bark"), (2, 0), ("nsubj", "root"))


def test_the_last_blank_line_may_be_missing(tmp_path: Path) -> None:
    assert len(list(read_conllu(written(tmp_path / "a.conllu", GOOD + "\n" + GOOD)))) == 2


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = ("\ufeff" + FULL).replace("\n", "\r\n")
    (tree,) = read_conllu(written(tmp_path / "a.conllu", text))
    assert tree.words == ("Do", "n't")
    assert tree.source is not None
    assert tree.source.comments[0] == "# newdoc id = d1"


@pytest.mark.parametrize("name", ["b.conllu", "b.conllu.gz", "b.conllu.xz"])
def test_round_trip_keeps_everything(tmp_path: Path, name: str) -> None:
    trees = list(read_conllu(written(tmp_path / "a.conllu", FULL + GOOD + "\n")))
    assert write_conllu(trees, tmp_path / name) == 2
    raw = (tmp_path / name).read_bytes()
    unpack = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(name[-3:], bytes)
    assert unpack(raw).decode() == FULL + GOOD + "\n"
    assert list(read_conllu(tmp_path / name)) == trees


def test_changed_heads_are_written_and_the_rest_is_kept(tmp_path: Path) -> None:
    (tree,) = read_conllu(written(tmp_path / "a.conllu", FULL))
    write_conllu([tree.with_heads((2, 0))], tmp_path / "b.conllu")
    text = (tmp_path / "b.conllu").read_text()
    assert "1\tDo\tdo\tAUX\tVB\tMood=Imp\t2\troot\t0:root\tGloss=x|y\n" in text
    assert "2.1\tgo" in text


def test_a_tree_without_a_source_is_written(tmp_path: Path) -> None:
    write_conllu([DependencyTree(("a", "b c"), (0, 1))], tmp_path / "a.conllu")
    assert (tmp_path / "a.conllu").read_text() == "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n2\tb c\t_\t_\t_\t_\t1\t_\t_\t_\n\n"


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.conllu", "old")
    with pytest.raises(InputError, match="tab or line break"):
        write_conllu([DependencyTree(("a",), (0,)), DependencyTree(("a\tb",), (0,))], path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# Every kind of bad input stands as the second of three sentences; the first is two lines and a blank.
BAD: dict[str, tuple[str | bytes, int, str]] = {
    "columns": ("1\ta\t_\t_\t_\t_\t0\troot\t_\n", 4, "the line has 9 columns; 10 are expected"),
    "spaces": ("1 a _ _ _ _ 0 root _ _\n", 4, "the line has 1 columns"),
    "head": (line(1, "a", 0) + line(2, "b", "_"), 5, "word 2 has head '_'; a whole number is expected"),
    "signed head": (line(1, "a", "+0"), 4, r"word 1 has head '\+0'"),
    "range": (line(1, "a", 0) + line(2, "b", 9), 5, "word 2 has head 9, but the sentence has 2 words"),
    "cycle": (line(1, "a", 0) + line(2, "b", 3) + line(3, "c", 2), 5, "2 → 3 → 2 go round in a circle"),
    "itself": (line(1, "a", 0) + line(2, "b", 2), 5, "word 2 is its own head"),
    "roots": (line(1, "a", 0) + line(2, "b", 0), 5, "words 1, 2 all have head 0"),
    "no root": (line(1, "a", 2) + line(2, "b", 1), 4, "no word has head 0"),
    "empty": ("\n", 4, "the sentence is empty"),
    "only comments": ("# sent_id = 2\n", 4, "the sentence is empty"),
    "form": ("1\t\t_\t_\t_\t_\t0\troot\t_\t_\n", 4, "word 1 is ''"),
    "ids": (line(1, "a", 0) + line(3, "b", 1), 5, "the line has ID '3'; 2 is expected here"),
    "id": (line(1, "a", 0).replace("1", "x", 1), 4, "the line has ID 'x'"),
    "bytes": (b"# caf\xe9\n" + line(1, "a", 0).encode(), 4, "byte 6 of the line is 0xe9, which is not UTF-8"),
}


def three_sentences(bad: str | bytes) -> bytes:
    middle = bad if isinstance(bad, bytes) else bad.encode()
    return (GOOD + "\n").encode() + middle + (b"" if middle == b"\n" else b"\n") + (GOOD + "\n").encode()


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("suffix", [".conllu", ".conllu.gz"])
def test_bad_input_names_file_sentence_and_line(tmp_path: Path, kind: str, suffix: str) -> None:
    bad, number, reason = BAD[kind]
    raw = three_sentences(bad)
    path = written(tmp_path / f"bad{suffix}", gzip.compress(raw) if suffix.endswith("gz") else raw)
    trees = read_conllu(path)
    assert next(trees).words == ("Dogs", "bark")
    with pytest.raises(TreebankError, match=reason) as caught:
        next(trees)
    assert (caught.value.path, caught.value.sentence, caught.value.line) == (str(path), 2, number)
    assert f"cannot read {path}, sentence 2 (line {number}): " in str(caught.value)
    assert "--skip-invalid" in str(caught.value)


@pytest.mark.parametrize("kind", BAD)
def test_skip_invalid_counts_and_lists(tmp_path: Path, kind: str) -> None:
    bad, number, _ = BAD[kind]
    path = written(tmp_path / "bad.conllu", three_sentences(bad))
    report = TreebankReport()
    assert len(list(read_conllu(path, skip_invalid=True, report=report))) == 2
    assert (report.sentences, report.words) == (2, 4)
    ((skipped),) = report.skipped
    assert (skipped.path, skipped.sentence, skipped.line) == (str(path), 2, number)
    assert f"sentence 2 (line {number})" in str(skipped)


def test_blank_lines_at_the_end_are_no_sentence(tmp_path: Path) -> None:
    assert len(list(read_conllu(written(tmp_path / "a.conllu", GOOD + "\n\n\n")))) == 1


def test_an_empty_file_has_no_sentences(tmp_path: Path) -> None:
    assert list(read_conllu(written(tmp_path / "a.conllu", ""))) == []


@pytest.mark.parametrize("kept", [0.5, 0.9, 0.999])
def test_a_truncated_gzip_is_noticed_and_what_came_before_is_read(tmp_path: Path, kept: float) -> None:
    many = "".join(f"# sent_id = {i * 7919 % 1000}\n{GOOD}\n" for i in range(300)).encode()
    whole = gzip.compress(many, mtime=0)
    path = written(tmp_path / "cut.conllu.gz", whole[: int(len(whole) * kept)])
    read = 0
    with pytest.raises(TreebankError, match="the compressed file breaks off or is damaged") as caught:
        for _ in read_conllu(path):
            read += 1
    assert caught.value.sentence == read + 1
    report = TreebankReport()
    assert len(list(read_conllu(path, skip_invalid=True, report=report))) == read
    assert "what follows is lost" in report.skipped[0].reason


def test_damaged_gzip(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress((GOOD + "\n").encode() * 50, mtime=0))
    whole[-6] ^= 0xFF  # in the checksum
    with pytest.raises(TreebankError, match="damaged"):
        list(read_conllu(written(tmp_path / "bad.gz", bytes(whole))))


def test_several_roots(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.conllu", GOOD + "\n" + line(1, "a", 0) + line(2, "b", 0) + line(3, "c", 0) + "\n" + GOOD
    )
    report = TreebankReport()
    trees = list(read_conllu(path, roots="first", report=report))
    assert trees[1].heads == (0, 1, 1)
    assert (report.several_roots, report.reattached_roots, report.skipped) == (1, 2, [])
    report = TreebankReport()
    assert len(list(read_conllu(path, roots="skip", report=report))) == 2
    assert [skipped.sentence for skipped in report.skipped] == [2]
    with pytest.raises(TreebankError, match="--roots first"):
        list(read_conllu(path))


def test_roots_skip_does_not_hide_a_sentence_without_root(tmp_path: Path) -> None:
    path = written(tmp_path / "a.conllu", line(1, "a", 2) + line(2, "b", 1))
    with pytest.raises(TreebankError, match="no word has head 0"):
        list(read_conllu(path, roots="skip"))


CROSSING = line(1, "a", 3) + line(2, "b", 4) + line(3, "c", 0) + line(4, "d", 3) + "\n"


def test_crossing_arcs(tmp_path: Path) -> None:
    path = written(tmp_path / "a.conllu", GOOD + "\n" + CROSSING)
    report = TreebankReport()
    assert [tree.heads for tree in read_treebank([path, path], report=report)] == [(2, 0), (3, 3, 0, 3)] * 2
    assert (report.nonprojective, report.lifted_sentences, report.lifted_arcs, report.sentences) == (2, 2, 2, 4)
    report = TreebankReport()
    assert len(list(read_treebank([path], nonprojective="skip", report=report))) == 1
    assert (report.sentences, report.words, report.skipped[0].sentence) == (1, 2, 2)
    with pytest.raises(TreebankError, match=r"sentence 2 \(line 4\): the tree has crossing arcs"):
        list(read_treebank([path], nonprojective="error"))


def test_unknown_choices_name_the_known_ones(tmp_path: Path) -> None:
    path = written(tmp_path / "a.conllu", GOOD)
    with pytest.raises(UnknownNameError, match="'all'\\. Known: error, first, skip"):
        read_conllu(path, roots="all")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="Known: lift, skip, error"):
        read_treebank([path], nonprojective="drop")  # type: ignore[arg-type]


def test_a_missing_file_is_noticed_before_iterating(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_conllu(tmp_path / "none.conllu")


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(sentences: int) -> int:
        path = written(tmp_path / f"{sentences}.conllu", (GOOD + "\n") * sentences)
        tracemalloc.start()
        for _ in read_conllu(path):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(10)  # what is imported and cached once
    assert peak(20_000) < 2 * peak(200) + 100_000


@pytest.mark.parametrize("name", ["ud/en_ewt-ud-dev.conllu", "ud/en_gum-ud-dev.conllu", "ptb/ptb-sample-sd.conll"])
def test_real_files_come_back_byte_for_byte(tmp_path: Path, name: str) -> None:
    path = data_file(name)
    write_conllu(read_conllu(path), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
