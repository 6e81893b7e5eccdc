"""Files of trees as proposals: every tree is found again, lists keep what is known about them, and repairs are counted."""

from __future__ import annotations

import gzip
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from dtg.errors import InputError, TreebankError
from dtg.proposals import tree_index
from dtg.proposals.from_file import FileProposal
from dtg.proposals.repair import RepairCounts
from dtg.scoring.proposal import Draws, Proposal, draw
from dtg.tables.sidecar import ResumePoint, Sidecar, sidecar_path
from dtg.trees import DependencyTree, projectivize, read_conllu, write_conllu
from dtg.trees.enumeration import enumerate_projective
from tests.real_data import data_file

WORDS = ("a", "b", "c")
HEADS = [(0, 1, 2), (0, 1, 1), (2, 0, 2), (3, 3, 0)]


def block(words: str, heads: Sequence[int], *comments: str) -> str:
    """A sentence of a file, right or wrong; its words are separated by spaces."""
    columns = zip(words.split(), heads, strict=True)
    lines = [f"{number}\t{word}\t_\t_\t_\t_\t{head}\t_\t_\t_" for number, (word, head) in enumerate(columns, start=1)]
    return "\n".join([*comments, *lines]) + "\n\n"


def write_lists(path: Path, lists: Sequence[Sequence[tuple[int, ...]]], **settings: Any) -> Sidecar:
    """A file as `dtg parse` makes it, and what is beside it. The log-probability of a tree is minus its root's number."""
    path.write_text(
        "".join(
            block(
                " ".join(WORDS), heads, f"# tree = {place}", "# prob = 0.1", f"# log_prob = {-1.0 - heads.index(0):.6f}"
            )
            for some in lists
            for place, heads in enumerate(some, start=1)
        )
    )
    sidecar = Sidecar.begin({"command": "parse", "nbest": None, "sample": None, **settings}, {}, ())
    sidecar = replace(sidecar, progress=ResumePoint(bytes=path.stat().st_size), finished=True)
    sidecar.save(sidecar_path(path))
    return sidecar


def propose(path: Path, words: Sequence[str] = WORDS, count: int = 300) -> Draws:
    return FileProposal(path).propose(words, count, torch.Generator())


def heads_of(draws: Draws) -> list[tuple[int, ...]]:
    return [tree.heads for tree in draws.trees]


@pytest.mark.parametrize("name", ["trees.conllu", "trees.conllu.gz"])
@pytest.mark.parametrize("words_have_one_hash", [False, True])
def test_every_tree_is_found_by_its_words(
    tmp_path: Path, name: str, words_have_one_hash: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if words_have_one_hash:
        monkeypatch.setattr(tree_index, "key_of", lambda fields: hash(tuple(fields)) if fields[-1].isdigit() else 0)
    chance, trees = random.Random(0), list[DependencyTree]()
    for _ in range(60):  # few words, so that sentences and trees occur several times
        heads = chance.choice(enumerate_projective(chance.randint(1, 3)))
        words = chance.choices("ab", k=len(heads))
        trees.append(DependencyTree(tuple(words), heads, ("x",) * len(heads)))
    write_conllu(trees, tmp_path / name)
    proposal = FileProposal(tmp_path / name)
    assert isinstance(proposal, Proposal)
    by_words = dict[tuple[str, ...], list[DependencyTree]]()
    for tree in dict.fromkeys(trees):
        by_words.setdefault(tree.words, []).append(tree)
    for words_of_some, expected in by_words.items():
        assert draw(proposal, words_of_some, 300, None) == Draws(tuple(expected))
        assert draw(proposal, words_of_some, 2, None).trees == tuple(expected[:2])
    assert proposal.repairs.lines() == []


def test_a_file_of_unusual_form(tmp_path: Path) -> None:
    """A mark at its beginning, DOS line ends, ranges, empty nodes, too many blank lines and none at its end; a repeat."""
    path, empty = tmp_path / "odd.conllu", "\t_" * 8
    first, (text, one, two) = block("a b", (2, 0)).strip(), block("c d", (0, 1), "# text = cd").strip().split("\n")
    second = "\n".join([text, f"1-2\tcd{empty}", one, f"1.1\tx{empty}", two])
    path.write_bytes(f"\ufeff{first}\n\n \n{second}\n\n{first}".replace("\n", "\r\n").encode())
    proposal = FileProposal(path)
    (tree,) = proposal.propose(("a", "b"), 9, torch.Generator()).trees
    assert tree.heads == (2, 0) and tree.source is not None and tree.source.sentence == 1
    (tree,) = proposal.propose(("c", "d"), 9, torch.Generator()).trees
    assert tree.source is not None and (tree.source.sentence, tree.source.line) == (2, 5)
    assert tree.source.inserted == ((0, f"1-2\tcd{empty}"), (1, f"1.1\tx{empty}"))
    assert proposal.repairs == RepairCounts(trees=2)  # the repeat was not read


def test_the_best_trees_have_probabilities_but_were_not_drawn(tmp_path: Path) -> None:
    write_lists(tmp_path / "best.conllu", [HEADS], nbest=4)
    found = propose(tmp_path / "best.conllu")
    assert heads_of(found) == HEADS
    assert (found.log_q, found.drawn) == ((-1.0, -1.0, -2.0, -3.0), "not at random")


def test_independent_draws_keep_their_repeats(tmp_path: Path) -> None:
    a, b = HEADS[0], HEADS[3]
    again = block("d", (0,)) + block("a b c", b, "# tree = 1", "# log_prob = -3.0")
    path = tmp_path / "drawn.conllu"
    sidecar = write_lists(path, [[b, a, b], [b]], sample=3, without_replacement=False)
    path.write_text(path.read_text() + again * 2)
    replace(sidecar, progress=ResumePoint(bytes=path.stat().st_size)).save(sidecar_path(path))
    found = propose(path)
    assert heads_of(found) == [b, a, b, b, b, b]
    assert (found.log_q, found.drawn) == ((-3.0, -1.0, *[-3.0] * 4), "independently")
    assert heads_of(propose(path, count=3)) == [b, a, b]


def test_draws_without_replacement_end_where_another_list_is_needed(tmp_path: Path) -> None:
    write_lists(tmp_path / "a.conllu", [HEADS[1:], HEADS[:2]], sample=3, without_replacement=True)
    found = propose(tmp_path / "a.conllu", count=3)
    assert heads_of(found) == HEADS[1:]
    assert (found.log_q, found.drawn) == ((-1.0, -2.0, -3.0), "without replacement")
    found = propose(tmp_path / "a.conllu", count=4)
    assert heads_of(found) == [*HEADS[1:], HEADS[0]]
    assert (found.log_q, found.drawn) == ((-1.0, -2.0, -3.0, -1.0), "not at random")
    write_lists(tmp_path / "b.conllu", [HEADS, HEADS], sample=4, without_replacement=True)
    assert propose(tmp_path / "b.conllu").drawn == "without replacement"  # the second list adds nothing


def test_a_compressed_list_is_believed_too(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    write_lists(path, [HEADS], sample=4, without_replacement=True)
    expected = propose(path)
    (tmp_path / "a.conllu.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert propose(tmp_path / "a.conllu.gz") == expected and expected.drawn == "without replacement"


def test_without_a_word_of_dtg_parse_nothing_is_believed(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    expected = Draws(tuple(DependencyTree(WORDS, heads, ("_",) * 3) for heads in HEADS))
    write_lists(path, [HEADS], sample=4, without_replacement=True)
    sidecar_path(path).unlink()
    assert propose(path) == expected
    write_lists(path, [HEADS], command="rerank")
    assert propose(path) == expected


def test_crossing_arcs_and_several_roots_are_repaired_and_counted(tmp_path: Path) -> None:
    crossing, roots = (4, 0, 2, 2), (0, 0, 2, 0)  # the arc from d to a goes over b, the root word
    path = tmp_path / "a.conllu"
    sidecar = write_lists(path, [], sample=1, without_replacement=True)
    comments = ("# tree = 1", "# log_prob = -1.0")
    path.write_text(
        "".join(block("a b c d", heads, *comments) for heads in (crossing, roots)) + block("e", (0,), *comments)
    )
    replace(sidecar, progress=ResumePoint(bytes=path.stat().st_size)).save(sidecar_path(path))
    proposal = FileProposal(path)
    lifted = projectivize(DependencyTree(tuple("abcd"), crossing)).tree.heads
    found = draw(proposal, tuple("abcd"), 2, None)
    assert heads_of(found) == [lifted, (0, 1, 2, 1)]
    assert (found.log_q, found.drawn) == (None, "not at random")  # the probabilities were those of other trees
    assert draw(proposal, ("e",), 1, None).drawn == "without replacement"
    assert proposal.repairs == RepairCounts(3, 1, 1, 1, 2)
    assert proposal.repairs.lines() == [
        "lifted 1 crossing arc in 1 of 3 trees",
        "attached 2 further roots in 1 of 3 trees",
    ]


def test_what_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(block("a b", (0, 1)))
    with pytest.raises(
        InputError, match=r"a\.conllu has no tree of 'b a' \(2 words\)\.\n.*split and spelt in the same way"
    ):
        propose(path, ("b", "a"))
    with pytest.raises(InputError, match="not the text 'a b'"):
        propose(path, "a b")
    with pytest.raises(InputError, match="there is no such file"):
        FileProposal(tmp_path / "b.conllu")
    path.write_text("\n")
    with pytest.raises(InputError, match=r"a\.conllu has no trees"):
        FileProposal(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A text.\n", r"sentence 2 \(line 4\): the line has 1 columns; 10 are expected"),
        ("# nothing but this\n", r"sentence 2 \(line 4\): the sentence is empty"),
        (
            block("c d", (2, 1)),
            r"sentence 2 \(line 4\): no word has head 0.*\nFix the HEAD column; trees to be proposed",
        ),
        (block("c d", (0, 3)), r"sentence 2 \(line 5\): word 2 has head 3"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(block("a b", (0, 1)) + text)
    with pytest.raises(TreebankError, match=message):
        propose(path, ("c", "d"))


def test_a_compressed_file_that_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(block("a b", (0, 1)).encode())[:-9])
    with pytest.raises(InputError, match="breaks off or is damaged"):
        FileProposal(path)


def test_a_file_that_is_not_what_is_said_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    sidecar = write_lists(path, [HEADS], sample=4, without_replacement=True)
    replace(sidecar, finished=False).save(sidecar_path(path))
    with pytest.raises(InputError, match=r"is not finished.*Resume it first\.\nRemove a\.conllu\.meta\.json"):
        FileProposal(path)
    sidecar.save(sidecar_path(path))
    path.write_text(path.read_text() + block("a b", (0, 1)))
    with pytest.raises(InputError, match=r"was changed since dtg parse has written it"):
        FileProposal(path)
    sidecar_path(path).write_text("{}")
    with pytest.raises(
        InputError, match=r"is not a file that dtg writes beside a table\.\nRemove a\.conllu\.meta\.json"
    ):
        FileProposal(path)


@pytest.mark.slow
def test_a_treebank_of_real_size() -> None:
    path = data_file("amalgum/amalgum-dev.conllu.gz")
    proposal, sentences = FileProposal(path), 0
    for tree in read_conllu(path, roots="first"):
        assert projectivize(tree).tree.heads in heads_of(draw(proposal, tree.words, 300, None))
        sentences += 1
    assert sentences == proposal.repairs.trees == 5054 and proposal.repairs.lifted_arcs > 100
