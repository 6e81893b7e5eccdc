"""Rows against the paper's figures and against the slow twins."""

from __future__ import annotations

import pytest
import torch

from dtg import DependencyTree, families
from dtg.errors import InputError, NonProjectiveError, UnknownNameError
from dtg.families import ArcRepresentation, Family, Row, pack
from dtg.families.reading import in_words, numbered
from dtg.transitions.batch import SentenceBatch
from tests.dependency import DEPENDENCY_FAMILIES
from tests.twins import TWINS, every_projective_tree, random_sentences, stack_twin

FIGURE_2 = DependencyTree(tuple("There is a difference".split()), (2, 0, 4, 2))
WITH_STOP = DependencyTree(tuple("There is a difference .".split()), (2, 0, 4, 2, 2))


def family(name: str, arc_representation: ArcRepresentation = "word+arc") -> Family:
    return families.get(name, arc_representation=arc_representation, distance_limit=70)  # the twins have no limit


def lines(rows: tuple[Row, ...]) -> list[str]:
    """index, what is read, kind, attended@relative, prediction"""
    return [
        f"{row.index} {'+'.join(row.reads)} {row.kind} "
        f"{' '.join(f'{i}@{r}' for i, r in zip(row.attends, row.relative, strict=True))} {row.predicts}"
        for row in rows
    ]


def test_figure_2() -> None:
    assert lines(families.get("dtg").rows(FIGURE_2)) == [
        "0 <ROOT> STACK 0@0 GEN(There)",
        "1 There STACK 0@1 1@0 GEN(is)",
        "2 is STACK 0@2 1@1 2@0 LEFTARC",
        "3 LEFTARC+is COMPOSE 1@-1 2@0 3@0 None",
        "4 LEFTARC2+is STACK 0@1 3@0 4@0 GEN(a)",
        "5 a STACK 0@2 3@1 5@0 GEN(difference)",
        "6 difference STACK 0@3 3@2 5@1 6@0 LEFTARC",
        "7 LEFTARC+difference COMPOSE 5@-1 6@0 7@0 None",
        "8 LEFTARC2+difference STACK 0@2 3@1 7@0 8@0 RIGHTARC",
        "9 RIGHTARC+is COMPOSE 3@0 7@-1 9@0 None",
        "10 RIGHTARC2+is STACK 0@1 9@0 10@0 RIGHTARC",
        "11 RIGHTARC+<ROOT> COMPOSE 0@0 9@-1 11@0 None",
        "12 RIGHTARC2+<ROOT> STACK 11@0 12@0 <END>",
    ]


def test_appendix_a_arc_eager() -> None:
    """Rows 6, 12, 13 and 15 are the design's golden rows; the inputs and predictions are the paper's."""
    assert lines(families.get("dtg-eager").rows(FIGURE_2)) == [
        "0 <ROOT> STACK 0@0 GEN(There)",
        "1 There STACK 0@1 1@0 GEN(is)",
        "2 is STACK 0@2 1@1 2@0 LEFTARC",
        "3 LEFTARC+is COMPOSE 1@-1 2@0 3@0 None",
        "4 LEFTARC2+is STACK 0@1 3@0 4@0 RIGHTARC",
        "5 RIGHTARC+<ROOT> COMPOSE 0@0 3@-1 5@0 None",
        "6 RIGHTARC2+<ROOT> STACK 3@0 5@1 6@0 GEN(a)",
        "7 a STACK 3@1 5@2 7@0 GEN(difference)",
        "8 difference STACK 3@2 5@3 7@1 8@0 LEFTARC",
        "9 LEFTARC+difference COMPOSE 7@-1 8@0 9@0 None",
        "10 LEFTARC2+difference STACK 3@1 5@2 9@0 10@0 RIGHTARC",
        "11 RIGHTARC+is COMPOSE 3@0 9@-1 11@0 None",
        "12 RIGHTARC2+is STACK 5@2 9@0 11@1 12@0 POP",
        "13 POP POPSTACK 5@1 11@0 13@0 POP",
        "14 POP POPSTACK 5@0 14@0 POP",
        "15 POP POPSTACK 15@0 <END>",
    ]


def test_appendix_a_arc_swift() -> None:
    """Rows 14 and 15 are the design's golden rows; the inputs are the paper's, the predictions carry their k."""
    assert lines(families.get("dtg-swift").rows(WITH_STOP)) == [
        "0 <ROOT> STACK 0@0 GEN(There)",
        "1 There STACK 0@1 1@0 GEN(is)",
        "2 is STACK 0@2 1@1 2@0 LEFTARC[1]",
        "3 LEFTARC[1]+is COMPOSE 1@-1 2@0 3@0 None",
        "4 LEFTARC2[1]+is STACK 0@1 3@0 4@0 RIGHTARC[1]",
        "5 RIGHTARC[1]+<ROOT> COMPOSE 0@0 3@-1 5@0 None",
        "6 RIGHTARC2[1]+<ROOT> STACK 3@0 5@1 6@0 GEN(a)",
        "7 a STACK 3@1 5@2 7@0 GEN(difference)",
        "8 difference STACK 3@2 5@3 7@1 8@0 LEFTARC[1]",
        "9 LEFTARC[1]+difference COMPOSE 7@-1 8@0 9@0 None",
        "10 LEFTARC2[1]+difference STACK 3@1 5@2 9@0 10@0 RIGHTARC[1]",
        "11 RIGHTARC[1]+is COMPOSE 3@0 9@-1 11@0 None",
        "12 RIGHTARC2[1]+is STACK 5@2 9@0 11@1 12@0 GEN(.)",
        "13 . STACK 5@3 9@1 11@2 13@0 RIGHTARC[2]",
        "14 RIGHTARC[2]+is COMPOSE 9@-1 11@0 13@-1 14@0 None",
        "15 RIGHTARC2[2]+is STACK 5@2 13@0 14@1 15@0 <END>",
    ]


def test_transformer_xl() -> None:
    assert lines(families.get("txl-trans").rows(DependencyTree(("Dogs", "bark"), (2, 0)))) == [
        "0 <ROOT> LINEAR 0@0 GEN(Dogs)",
        "1 Dogs LINEAR 0@1 1@0 GEN(bark)",
        "2 bark LINEAR 0@2 1@1 2@0 LEFTARC",
        "3 LEFTARC LINEAR 0@3 1@2 2@1 3@0 RIGHTARC",
        "4 RIGHTARC LINEAR 0@4 1@3 2@2 3@1 4@0 <END>",
    ]
    crossing = DependencyTree(tuple("abcd"), (3, 4, 0, 3))
    assert lines(families.get("txl-tokens").rows(crossing))[-1] == "4 d LINEAR 0@4 1@3 2@2 3@1 4@0 <END>"


def test_words_of_several_pieces() -> None:
    """Pieces are one item: the same position, composed and popped together; a head is named by its last piece."""
    rows = families.get("dtg").rows(DependencyTree(("Dogs", "bark"), (2, 0)), [["Do", "gs"], ["bar", "k"]])
    assert lines(rows) == [
        "0 <ROOT> STACK 0@0 GEN(Do)",
        "1 Do STACK 0@1 1@0 GEN(gs)",
        "2 gs STACK 0@1 1@0 2@0 GEN(bar)",
        "3 bar STACK 0@2 1@1 2@1 3@0 GEN(k)",
        "4 k STACK 0@2 1@1 2@1 3@0 4@0 LEFTARC",
        "5 LEFTARC+k COMPOSE 1@-1 2@-1 3@0 4@0 5@0 None",
        "6 LEFTARC2+k STACK 0@1 5@0 6@0 RIGHTARC",
        "7 RIGHTARC+<ROOT> COMPOSE 0@0 5@-1 7@0 None",
        "8 RIGHTARC2+<ROOT> STACK 7@0 8@0 <END>",
    ]


@pytest.mark.parametrize(
    ("representation", "expected"),
    [("word+arc", ("LEFTARC", "is")), ("arc", ("LEFTARC",)), ("word", ("is",))],
)
def test_arc_representations(representation: ArcRepresentation, expected: tuple[str, ...]) -> None:
    rows = families.get("dtg").rows(FIGURE_2, arc_representation=representation)
    assert rows[3].reads == expected
    assert rows == families.get("dtg", arc_representation=representation).rows(FIGURE_2)


@pytest.mark.parametrize("name", DEPENDENCY_FAMILIES)
@pytest.mark.parametrize("representation", families.ARC_REPRESENTATIONS)
def test_equal_to_the_twin_on_every_small_tree(name: str, representation: ArcRepresentation) -> None:
    trees = [DependencyTree(tuple(f"w{i}" for i in range(n)), h) for n in range(1, 6) for h in every_projective_tree(n)]
    pieces = [
        [[f"{w}.{p}" for p in range(1 + (i + n) % 3)] for i, w in enumerate(t.words)] for n, t in enumerate(trees)
    ]
    compare(family(name, representation), trees, pieces)


@pytest.mark.parametrize("name", DEPENDENCY_FAMILIES)
def test_equal_to_the_twin_on_hundreds_of_random_trees(name: str) -> None:
    for seed, representation in enumerate(families.ARC_REPRESENTATIONS):
        trees, pieces = map(list, zip(*random_sentences(200, seed=seed), strict=True))
        compare(family(name, representation), trees, pieces)


def compare(made: Family, trees: list[DependencyTree], pieces: list[list[list[str]]]) -> None:
    """One pack of all sentences, each sentence's rows against the twin's."""
    batch = SentenceBatch.of(trees, [numbered(split) for split in pieces])
    actions = made.system.derive(batch)
    packed = pack(made, actions, root=0)
    for number, (tree, split) in enumerate(zip(trees, pieces, strict=True)):
        reading = in_words(made, tree, split, packed, actions, number)
        assert reading.rows == TWINS[made.name](made.system.oracle(tree), split, made.arc_representation)


def test_deep_stacks_stop_counting_at_62() -> None:
    """80 words that all wait for the last: the bottom of the stack is 80 items away, and counted as 62."""
    tree = DependencyTree(tuple(f"w{i}" for i in range(1, 81)), (*[80] * 79, 0))
    rows = families.get("dtg").rows(tree)
    assert rows[80].relative[:20] == (62,) * 19 + (61,)
    assert max(max(row.relative) for row in rows) == 62
    assert rows == stack_twin(
        families.get("dtg").system.oracle(tree), [[w] for w in tree.words], "word+arc", eager=False
    )
    assert max(families.get("txl-trans").rows(tree)[-1].relative) == 160


def test_what_cannot_be_read() -> None:
    crossing = DependencyTree(tuple("abcd"), (3, 4, 0, 3))
    with pytest.raises(NonProjectiveError, match="projectivize"):
        families.get("dtg").rows(crossing)
    with pytest.raises(InputError, match="has 4 words, but pieces are given for 1"):
        families.get("dtg").rows(FIGURE_2, [["There"]])
    with pytest.raises(UnknownNameError, match="dtg, dtg-eager, dtg-swift, txl-trans, txl-tokens"):
        families.get("rnng")
    with pytest.raises(UnknownNameError, match=r"word\+arc, arc, word"):
        families.get("dtg", arc_representation="head")  # type: ignore[arg-type]


def test_a_pack_can_be_trained_on() -> None:
    """Packing runs without gradients, but its tensors must be usable where gradients are needed."""
    packed = pack(
        families.get("dtg"),
        families.get("dtg").system.derive(SentenceBatch.of([FIGURE_2], [[[1], [2], [3], [4]]])),
        root=0,
    )
    table = torch.nn.Embedding(8, 3)
    table(packed.piece.clamp(min=0)).sum().backward()
    assert table.weight.grad is not None
