"""Penn brackets: what the policies do and count, what survives a round trip, and how each kind of bad input is answered."""

from __future__ import annotations

import gzip
import lzma
import re
import tracemalloc
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtg import ConstituencyTree, read_brackets, read_conllu, write_brackets
from dtg.errors import DtgError, InputError, TreebankError, UnknownNameError
from dtg.trees import Node, TreebankReport
from tests.documents import ROOT, blocks, run
from tests.real_data import data_file
from tests.trees.phrase_trees import FIVE, FIVE_NODES, WORKED_EXAMPLE, constituency_trees

GOOD = FIVE[2]


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(folder: Path, text: str | bytes, **options: Any) -> list[ConstituencyTree]:
    return list(read_brackets(written(folder / "a.ptb", text), **options))


def test_the_five_trees(tmp_path: Path) -> None:
    report = TreebankReport()
    trees = read(tmp_path, "\n".join(FIVE), report=report)
    assert [tree.key for tree in trees] == list(FIVE_NODES)
    assert [tree.brackets() for tree in trees] == list(FIVE)
    assert trees[1] == WORKED_EXAMPLE
    assert trees[1].source is not None
    assert (trees[1].source.sentence, trees[1].source.line) == (2, 2)
    assert report.lines() == ["5 sentences, 28 words"]


PENN = """
( (S
    (NP-SBJ-1 (NNP Mr.) (NNP Vinken) )
    (VP (VBD was)
      (VP (VBN named)
        (S
          (NP-SBJ (-NONE- *-1) )
          (NP-PRD (NN chairman) (-LRB- -LRB-) (CD 1\\/2) (-RRB- -RRB-) ))
        (ADVP|PRT-TMP=2 (RB now) )))
    (. .) ))

( (S (NP-SBJ (-NONE- *) ) (VP (VB Go) )))
"""


def test_the_penn_treebank_as_it_is_distributed(tmp_path: Path) -> None:
    report = TreebankReport()
    trees = read(tmp_path, PENN, report=report)
    assert trees[0].brackets() == (
        "(S (NP (NNP Mr.) (NNP Vinken)) (VP (VBD was) (VP (VBN named) (S (NP (NN chairman) (-LRB- -LRB-) (CD 1/2) "
        "(-RRB- -RRB-))) (ADVP|PRT (RB now)))) (. .))"
    )
    assert trees[0].words[4:7] == ("chairman", "(", "1/2")
    assert trees[1].key == (("S", 1, 1), ("VP", 1, 1))
    assert [tree.source.line for tree in trees if tree.source] == [2, 12]
    assert report.lines() == [
        "2 sentences, 11 words",
        "removed 2 traces",
        "removed 2 empty phrases",
        "stripped functions or indices from 3 labels",
        "removed outer brackets around 2 sentences",
        "undid escapes such as -LRB- in 3 words",
    ]
    assert report.as_dict()["traces"] == 2


def test_everything_may_be_kept(tmp_path: Path) -> None:
    first, second = read(tmp_path, PENN, traces="keep", functions="keep")
    assert first.nodes[1].label == "NP-SBJ-1"
    assert first.words[4] == "*-1"
    assert first.tags is not None
    assert first.tags[4] == "-NONE-"
    assert second.brackets() == "(S (NP-SBJ (-NONE- *)) (VP (VB Go)))"


def test_unary_chains_may_be_collapsed(tmp_path: Path) -> None:
    report = TreebankReport()
    (tree,) = read(tmp_path, "(S (S (VP (VP (VB Go) (RB now)) )) )", unary="collapse", report=report)
    assert tree.key == (("S", 1, 2),)
    assert report.brackets.collapsed == 3
    assert "collapsed 3 phrases over the words of another" in report.lines()
    (tree,) = read(tmp_path, "(S (VP (VB Go)))")
    assert tree.key == (("S", 1, 1), ("VP", 1, 1))


@pytest.mark.parametrize("outer", ["( {})", "(ROOT {})", "(TOP {})", "(S1 {})", "({})", "( (ROOT (TOP {})))", "{}"])
def test_brackets_around_the_sentence_are_no_phrases(tmp_path: Path, outer: str) -> None:
    report = TreebankReport()
    (tree,) = read(tmp_path, outer.format(GOOD), report=report)
    assert tree.brackets() == GOOD
    assert report.brackets.unwrapped == (outer != "{}")


@pytest.mark.parametrize(
    ("text", "brackets"),
    [
        ("(ROOT (UH Yes))", "(X (UH Yes))"),
        ("(UH Yes)", "(X (UH Yes))"),
        ("( (CODE <a>))", "(X (CODE <a>))"),
        ("( (S (UH Yes)) (. .))", "(X (S (UH Yes)) (. .))"),
        ("(ROOT (S (UH Yes)) (. .))", "(X (S (UH Yes)) (. .))"),
        ("( (S (UH Yes)) (. (-NONE- *)))", "(S (UH Yes))"),
    ],
)
def test_a_phrase_is_put_over_a_sentence_that_has_none(tmp_path: Path, text: str, brackets: str) -> None:
    report = TreebankReport()
    (tree,) = read(tmp_path, text, report=report)
    assert tree.brackets() == brackets
    assert report.brackets.without_phrase == brackets.startswith("(X")


def test_brackets_without_a_label_inside_a_sentence_are_removed(tmp_path: Path) -> None:
    report = TreebankReport()
    (tree,) = read(tmp_path, "(S (NP (NNS Dogs)) ( (VP (VBP bark)) (. .)))", report=report)
    assert tree.brackets() == "(S (NP (NNS Dogs)) (VP (VBP bark)) (. .))"
    assert "removed 1 pair of brackets without a label" in report.lines()


def test_words_with_spaces_become_several(tmp_path: Path) -> None:
    """As in CRAFT; thin and no-break spaces, on the other hand, are part of a word."""
    report = TreebankReport()
    text = (
        "(S (NP (NN Xpd TTD) (HYPH /) (NN a\u2009b\u00a0c)) (VP (VBP bark) (RB a) (RB b) (RB c) (RB d) (RB e)) (. .))"
    )
    (tree,) = read(tmp_path, text, report=report)
    assert tree.words[:4] == ("Xpd", "TTD", "/", "a\u2009b\u00a0c")
    assert tree.tags is not None
    assert tree.tags[:2] == ("NN", "NN")
    assert tree.key[:2] == (("S", 1, 11), ("NP", 1, 4))
    assert "split 1 word at spaces" in report.lines()


def test_sentences_without_tags(tmp_path: Path) -> None:
    report = TreebankReport()
    (tree,) = read(tmp_path, "(S (NP The dog) (VP barks))", report=report)
    assert tree.key == (("S", 1, 3), ("NP", 1, 2), ("VP", 3, 3))
    assert tree.tags is None
    assert report.lines() == ["1 sentence, 3 words", "1 sentence without tags"]
    (tree,) = read(tmp_path, "(S (NP Kim) (VP came) .)")  # a word beside a phrase
    assert tree.key == (("S", 1, 3), ("NP", 1, 1), ("VP", 2, 2))
    (tree,) = read(tmp_path, "(S (NP Kim) (VP came))")  # nothing says that NP is not a tag
    assert (tree.key, tree.tags) == ((("S", 1, 2),), ("NP", "VP"))
    (tree,) = read(tmp_path, "(S (NP Kim) (VP came))", tags="absent")
    assert (tree.key, tree.tags) == ((("S", 1, 2), ("NP", 1, 1), ("VP", 2, 2)), None)
    with pytest.raises(TreebankError, match="the word 'The' has no tag, but tags were said to be present"):
        read(tmp_path, "(S The (NP (NN dog)))", tags="present")


def test_what_would_look_like_tags_is_written_so_that_it_does_not(tmp_path: Path) -> None:
    tree = ConstituencyTree(("Kim", "came"), (Node("S", 1, 2), Node("NP", 1, 1), Node("VP", 2, 2)))
    write_brackets([tree], tmp_path / "b.ptb")
    assert (tmp_path / "b.ptb").read_text() == "(S (NP (_ Kim)) (VP (_ came)))\n"
    assert list(read_brackets(tmp_path / "b.ptb")) == [tree]


def test_layouts(tmp_path: Path) -> None:
    """Over several lines, indented or not, several in a line, with Windows line ends, a byte order mark, blank lines."""
    indented = "(S (NP (NNS Dogs))\n   (VP\n\t(VBP bark)))\n"
    at_margin = "(S\n(NP (NNS Dogs))\n(VP (VBP bark)))\n"
    for text in (
        indented * 2,
        at_margin * 2,
        f"{GOOD} {GOOD}",
        f"{GOOD}{GOOD}\n",
        f"\ufeff{GOOD}\n{GOOD}",
        f"\n\n{GOOD}\r\n\r\n  {GOOD}\r\n\n\n",
        GOOD + "\n" + indented,
        f"{GOOD}\r{GOOD}\r",
        "( \n" + GOOD.replace(" ", "\n ") + "\n )\n" + GOOD,
    ):
        assert [tree.brackets() for tree in read(tmp_path, text)] == [GOOD, GOOD], text


@pytest.mark.parametrize("name", ["b.ptb", "b.ptb.gz", "b.ptb.xz"])
def test_compressed_files(tmp_path: Path, name: str) -> None:
    trees = read(tmp_path, "\n".join(FIVE))
    assert write_brackets(trees, tmp_path / name) == 5
    raw = (tmp_path / name).read_bytes()
    unpack = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(name[-3:], bytes)
    assert unpack(raw).decode() == "".join(f"{tree}\n" for tree in FIVE)
    assert list(read_brackets(tmp_path / name)) == trees


def is_kept(tree: ConstituencyTree) -> bool:
    """Brackets cannot say everything: see what `read_brackets` removes or changes by default."""
    return (
        tree.nodes[0].label not in ("ROOT", "TOP", "S1")
        and not set(tree.tags or ()) & {"-NONE-", "_"}
        and not any(re.search("-[LR][RSC]B-", word) for word in tree.words)
    )


@given(st.lists(constituency_trees().filter(is_kept), max_size=4))
def test_round_trip(trees: list[ConstituencyTree]) -> None:
    with TemporaryDirectory() as folder:
        assert write_brackets(trees, Path(folder) / "b.ptb") == len(trees)
        assert list(read_brackets(Path(folder) / "b.ptb", functions="keep")) == trees


# Every kind of bad input stands as the second of three sentences; the first is one line.
BAD: dict[str, tuple[str | bytes, int, str]] = {
    "open": ("(S (NP (NNS Dogs)) (VP (VBP bark))", 2, "the tree breaks off: 1 bracket is not closed"),
    "open over lines": ("(S (NP (NNS Dogs))\n  (VP (VBP bark", 2, "the tree breaks off: 3 brackets are not closed"),
    "closed": (f"{GOOD})", 2, r"a closing bracket is outside of all brackets; a tree such as \(S \(NP"),
    "closed early": ("(S (NP (NNS Dogs))) (VP (VBP bark)))", 2, "a closing bracket is outside of all brackets"),
    "words": ("Dogs bark .", 2, "'Dogs' is outside of all brackets"),
    "words behind": (f"{GOOD} bark", 2, "'bark' is outside of all brackets"),
    "long word": ("x" * 10_000, 2, f"'{'x' * 40}...' is outside of all brackets"),
    "empty": ("(S (NP) (VP (VBP bark)))", 2, r"the brackets \(NP\) have no word or phrase in them"),
    "no label": ("(S () (VP (VBP bark)))", 2, r"the brackets \(\) have no word or phrase in them"),
    "empty line 3": ("(S (VP (VBP bark))\n   (NP ))", 3, r"the brackets \(NP\) have no word"),
    "bytes": (b"(S (NN caf\xe9))", 2, "byte 11 of the line is 0xe9, which is not UTF-8"),
    "bytes over lines": (b"(S (NN a)\n (NN caf\xe9))", 3, "byte 9 of the line is 0xe9, which is not UTF-8"),
}


def three_sentences(bad: str | bytes) -> bytes:
    return f"{GOOD}\n".encode() + (bad if isinstance(bad, bytes) else bad.encode()) + f"\n{GOOD}\n".encode()


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("suffix", [".ptb", ".ptb.gz", ".ptb.xz"])
def test_bad_input_names_file_sentence_and_line(tmp_path: Path, kind: str, suffix: str) -> None:
    bad, line, reason = BAD[kind]
    raw = three_sentences(bad)
    packed = {".gz": gzip.compress(raw), ".xz": lzma.compress(raw)}.get(suffix[-3:], raw)
    path = written(tmp_path / f"bad{suffix}", packed)
    trees = read_brackets(path)
    assert next(trees).words == ("Dogs", "bark")
    with pytest.raises(TreebankError, match=reason) as caught:
        next(trees)
    assert (caught.value.path, caught.value.sentence, caught.value.line) == (str(path), 2, line)
    assert f"cannot read {path}, sentence 2 (line {line}): " in str(caught.value)
    assert "skip_invalid=True" in str(caught.value)


@pytest.mark.parametrize("kind", BAD)
def test_skip_invalid_counts_and_lists(tmp_path: Path, kind: str) -> None:
    bad, line, _ = BAD[kind]
    report = TreebankReport()
    trees = read(tmp_path, three_sentences(bad), skip_invalid=True, report=report)
    assert [tree.brackets() for tree in trees] == [GOOD, GOOD]
    assert (report.sentences, report.words) == (2, 4)
    (skipped,) = report.skipped
    assert (skipped.sentence, skipped.line) == (2, line)
    assert "left out 1 sentence" in report.lines()


def test_a_first_tree_that_breaks_off_takes_no_others_with_it(tmp_path: Path) -> None:
    """Nothing is known yet about indentation; what follows could continue it, until the file, or a blank line, ends it."""
    for rest in (f"{GOOD}\n" * 3, f"{GOOD}\n" * 3000, f"{GOOD}\n\n{GOOD}\n{GOOD}\n"):
        report = TreebankReport()
        trees = read(tmp_path, f"(S (NP (NNS Dogs))\n{rest}", skip_invalid=True, report=report)
        assert len(trees) == rest.count("(S")
        assert [(skipped.sentence, skipped.line) for skipped in report.skipped] == [(1, 1)]


def test_a_sentence_of_traces_is_left_out_and_listed(tmp_path: Path) -> None:
    report = TreebankReport()
    trees = read(tmp_path, f"{GOOD}\n( (S (NP-SBJ (-NONE- *))))\n{GOOD}", report=report)
    assert len(trees) == 2
    assert [(one.sentence, one.reason) for one in report.skipped] == [
        (2, "the sentence has no words: all of them are traces.")
    ]
    assert report.brackets.traces == 0
    assert [tree.source.sentence for tree in trees if tree.source] == [1, 3]


def test_an_empty_file_has_no_sentences(tmp_path: Path) -> None:
    for text in ("", "\n\n", "\ufeff\n"):
        assert read(tmp_path, text, skip_invalid=True) == []


def test_unknown_choices_name_the_known_ones(tmp_path: Path) -> None:
    path = written(tmp_path / "a.ptb", GOOD)
    for option, known in {
        "unary": "keep, collapse",
        "functions": "strip, keep",
        "traces": "remove, keep",
        "tags": "auto, present, absent",
    }.items():
        options: dict[str, Any] = {option: "all"}
        with pytest.raises(UnknownNameError, match=f"'all'\\. Known: {known}"):
            read_brackets(path, **options)


def test_a_missing_file_is_noticed_before_iterating(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_brackets(tmp_path / "none.ptb")


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.ptb", "old")
    with pytest.raises(InputError, match="cannot be written in brackets"):
        write_brackets([WORKED_EXAMPLE, ConstituencyTree(("10 000",), (Node("S", 1, 1),))], path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
@pytest.mark.parametrize("kept", [0.5, 0.9, 0.999])
def test_a_truncated_file_is_noticed_and_what_came_before_is_read(tmp_path: Path, kept: float, suffix: str) -> None:
    many = "".join(f"(S (NN w{number * 7919 % 100_003}) (NN v{number * 104_729 % 99_991}))\n" for number in range(9000))
    whole = (gzip.compress if suffix == ".gz" else lzma.compress)(many.encode())
    path = written(tmp_path / f"cut{suffix}", whole[: int(len(whole) * kept)])
    found = 0
    with pytest.raises(TreebankError, match="the compressed file breaks off or is damaged") as caught:
        for _ in read_brackets(path):
            found += 1
    assert caught.value.sentence == found + 1
    report = TreebankReport()
    assert len(list(read_brackets(path, skip_invalid=True, report=report))) == found
    assert "what follows is lost" in report.skipped[0].reason


def test_brackets_may_be_nested_deeply_and_labels_be_long(tmp_path: Path) -> None:
    (tree,) = read(tmp_path, "(S " * 100_000 + "(NN a)" + ")" * 100_000)
    assert tree.depth == 100_000
    (tree,) = read(tmp_path, f"({'L' * 1_000_000} (NN a))")
    assert len(tree.nodes[0].label) == 1_000_000
    with pytest.raises(TreebankError, match="100000 brackets are not closed"):
        read(tmp_path, "(" * 100_000)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(sentences: int) -> int:
        path = written(tmp_path / f"{sentences}.ptb", f"{GOOD}\n" * sentences)
        tracemalloc.start()
        for _ in read_brackets(path):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(10)  # what is imported and cached once
    assert peak(5000) < peak(200) + 200_000  # a buffer; the trees would take megabytes


BYTES = b"()()()  \n\n\r\t-=_|*\\/ABab\x00\xff\xc3\xef\xbb\xbf\x1f\x8b"


@settings(max_examples=300)
@given(st.integers(0, 2**32), st.sampled_from(["auto", "present", "absent"]), st.booleans())
def test_mutated_files_are_read_or_answered(seed: int, tags: Any, is_packed: bool) -> None:
    """Whatever is in a file, there are trees, errors of our own, or sentences that were left out; never anything else."""
    random = Random(seed)
    content = bytearray(f"{PENN}{GOOD}\n(S (NP The dog) (VP barks))\n(ROOT (UH Yes))\n".encode())
    if is_packed:
        content = bytearray(gzip.compress(bytes(content)))
    for _ in range(random.randint(1, 12)):
        place = random.randrange(len(content))
        match random.randrange(4):
            case 0:
                content[place] = random.choice(BYTES)
            case 1:
                content.insert(place, random.choice(BYTES))
            case 2:
                del content[place : place + random.randint(1, 30)]
            case _:
                content[place:place] = content[place // 2 : place]
        if not content:
            break
    with TemporaryDirectory() as folder:
        path = written(Path(folder) / "a.ptb", bytes(content))
        for skip in (False, True):
            report = TreebankReport()
            try:
                trees = list(read_brackets(path, tags=tags, skip_invalid=skip, report=report))
            except DtgError:
                assert not skip
                continue
            assert report.sentences == len(trees)
            assert report.words == sum(map(len, trees))
            for tree in trees:
                assert tree.brackets().count("(") == len(tree.nodes) + (len(tree) if tree.tags else 0)


# Real treebanks.

COUNTS = {  # file: sentences, and words without traces
    "const/gum-dev.ptb.gz": (1575, 28119),
    "const/gum-test.ptb.gz": (1464, 28397),
    "const/gum-train.ptb.gz": (10224, 177410),
    "const/ptb-sample.ptb.gz": (3914, 94084),
    "const/masc-ptb.ptb.gz": (6226, 104650),
    "const/craft-dev.ptb.gz": (2780, 67652),
    "const/craft-train.ptb.gz": (18951, 493385),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_every_terminal_of_real_files_is_accounted_for(tmp_path: Path, name: str) -> None:
    """Terminals, found by a regular expression, are words or traces, in order; and trees come back when written.

    Of files with more than 5,000 trees, every fifth is written.
    """
    report, words = TreebankReport(), list[str]()
    trees = list(read_brackets(data_file(name), report=report))
    with gzip.open(data_file(name), "rt", encoding="utf-8") as file:
        for leaf in re.findall(r"\(([^() ]+) ([^()]+)\)", file.read()):
            words += [] if leaf[0] == "-NONE-" else leaf[1].split(" ")
    found = [word for tree in trees for word in tree.words]
    assert (len(trees), len(found)) == (report.sentences, report.words) == COUNTS[name]
    assert found == [unescaped(word) for word in words]
    assert not report.skipped
    assert report.brackets.untagged == 0
    some = trees[:: 5 if len(trees) > 5000 else 1]
    write_brackets(some, tmp_path / "again.ptb.gz")
    assert list(read_brackets(tmp_path / "again.ptb.gz")) == some


def unescaped(word: str) -> str:
    for name, sign in zip(("-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-"), "()[]{}", strict=True):
        word = word.replace(name, sign)
    return word.replace("\\/", "/").replace("\\*", "*")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("brackets", "dependencies"),
    [
        ("const/gum-dev.ptb.gz", "ud/en_gum-ud-dev.conllu"),
        ("const/gum-test.ptb.gz", "ud/en_gum-ud-test.conllu"),
        ("const/gum-train.ptb.gz", "ud/en_gum-ud-train.conllu"),
        ("const/ptb-sample.ptb.gz", "ptb/ptb-sample-sd.conll"),
    ],
)
def test_words_are_those_of_the_dependencies(brackets: str, dependencies: str) -> None:
    """Sentence by sentence; in the PTB sample, whose dependencies keep -LRB-, after undoing that."""
    phrases, arcs = read_brackets(data_file(brackets)), read_conllu(data_file(dependencies))
    for one, other in zip(phrases, arcs, strict=True):
        assert one.words == (other.words if "gum" in brackets else tuple(map(unescaped, other.words)))


def test_the_page_is_true(tmp_path: Path) -> None:
    """The code of docs/phrases.md runs, and prints what it says."""
    code = [content for language, content in blocks(ROOT / "docs" / "phrases.md") if language == "python"]
    script = written(tmp_path / "page.py", "\n".join(code))
    drawing = next(content for language, content in blocks(ROOT / "docs" / "phrases.md") if language == "text")
    printed = run(script)
    assert printed.startswith(drawing)
    for said in re.findall(r"^print\(.*\)  # (.*)$", "\n".join(code), re.MULTILINE):
        assert f"{said}\n" in printed
