"""Top-down and shift-attach, audited by enumeration: one derivation for each tree, no dead ends, no clause too many."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from math import comb

import pytest
import torch

from dtg import ConstituencyTree, DependencyTree, transitions
from dtg.errors import IllegalTransition, InputError, TooFarError, TransitionError
from dtg.transitions import END, GEN, Operation, State, TransitionSystem
from dtg.transitions.action import NT, REDUCE
from dtg.transitions.batch import SentenceBatch
from dtg.transitions.lanes import FeatureTable, LaneActions, LaneStates, legal
from dtg.transitions.rules import Clause
from dtg.transitions.shift_attach import ATTACH, ShiftAttach
from dtg.transitions.table import FINISH, GENERATE
from dtg.transitions.top_down import TopDown
from dtg.trees import BinaryTree
from dtg.trees.enumeration import enumerate_binary, enumerate_constituency
from tests.phrase_twins import FIVE_TREES, LABELS, every_phrase_tree, moves_of, named, split_of
from tests.transitions.test_systems import DeadEnd, derivations, sentence

TWO = ("A", "B")


def top_down(typed: bool, most_open: int = 3, most_begin: int = 2) -> TopDown:
    return TopDown(labels=TWO, typed_closing=typed, max_open=most_open, max_chain=most_begin)


def phrase_trees(system: TopDown, words: int) -> list[ConstituencyTree]:
    """Every tree within the system's limits, without its help."""
    every = every_phrase_tree(words, system.labels, system.max_open, system.max_chain)
    return [ConstituencyTree(sentence(words), nodes) for nodes in every]  # type: ignore[arg-type]


def audit_top_down(system: TopDown, lengths: range) -> None:
    """Exactly one derivation for each tree, and it is the oracle's, whether the text is known or not."""
    assert derivations(system, 0, known=False) == []
    for length in lengths:
        trees = phrase_trees(system, length)
        oracle = {system.oracle(tree): tree for tree in trees}
        assert len(oracle) == len(trees) == system.count_trees(length)
        for known in (True, False):
            found = derivations(system, length, known=known)
            assert len(found) == len(set(found)) == len(trees)
            assert set(found) == set(oracle)
        for actions, tree in oracle.items():
            assert system.tree(actions) == tree


@pytest.mark.parametrize("typed", [True, False])
def test_top_down_has_one_derivation_for_each_tree(typed: bool) -> None:
    audit_top_down(top_down(typed), range(1, 4))
    audit_top_down(top_down(typed, most_open=2), range(4, 5))


@pytest.mark.slow
@pytest.mark.parametrize("typed", [True, False])
def test_top_down_has_one_derivation_for_each_tree_of_four_words(typed: bool) -> None:
    audit_top_down(top_down(typed), range(4, 5))


@pytest.mark.parametrize(("most_open", "most_begin"), [(3, 2), (4, 2), (5, 1), (9, 2)])
def test_trees_are_counted(most_open: int, most_begin: int) -> None:
    """By the count, by the system's own enumeration, and by filtering all trees whose chains are short enough."""
    system = top_down(True, most_open, most_begin)
    for words in range(1, 4):
        every = (
            ConstituencyTree(sentence(words), nodes) for nodes in enumerate_constituency(words, TWO, chain=most_begin)
        )
        within = {
            tree.key
            for tree in every
            if tree.depth <= most_open
            and all(sum(node.first == word for node in tree.nodes) <= most_begin for word in range(1, words + 1))
        }
        listed = [tree.key for tree in system.trees(sentence(words))]
        assert len(listed) == len(set(listed)) == system.count_trees(words) == len(within)
        assert set(listed) == within
    assert system.count_trees(1) == sum(2**length for length in range(1, min(most_begin, most_open) + 1))


def catalan(number: int) -> int:
    return comb(2 * number, number) // (number + 1)


def audit_shift_attach(system: ShiftAttach, everything: ShiftAttach, lengths: range) -> None:
    """Binary trees once each, by words and by subwords; with "all", as many derivations as the original's search has."""
    assert derivations(system, 0, known=False) == []
    assert derivations(everything, 0, known=False) == []
    for length in lengths:
        trees = [BinaryTree(sentence(length), spans) for spans in enumerate_binary(length)]
        oracle = {system.oracle(tree): tree for tree in trees if system.reaches(tree)}
        assert len(oracle) == system.count_trees(length)
        for known in (True, False):
            found = derivations(system, length, known=known)
            assert len(found) == len(set(found))
            assert set(found) == set(oracle)
            assert len(derivations(everything, length, known=known)) == bounded_stacks(length, everything.attach_limit)
        for actions, tree in oracle.items():
            assert system.tree(actions) == tree
    audit_subwords(system, 5)
    audit_subwords(everything, 4)


def bounded_stacks(words: int, limit: int) -> int:
    """Sequences in which each word is put on a stack of at most so many, after taking any number away."""
    ways = {0: 1}
    for _ in range(words):
        ways = {
            after: sum(count for before, count in ways.items() if before + 1 >= after)
            for after in range(1, 1 + min(limit, max(ways) + 1))
        }
    return sum(ways.values())


def audit_subwords(system: ShiftAttach, longest: int) -> None:
    """Every derivation of so many subwords that lanes allow, the text not being known, is that of words and a tree."""
    expected = set[tuple[tuple[str, int], ...]]()
    for count in range(1, longest + 1):
        for lengths in compositions(count):
            pieces = [[f"{word}.{place}" for place in range(size)] for word, size in enumerate(lengths)]
            for ends in forests(len(lengths), whole=system.derivations == "canonical"):
                moves: list[tuple[str, int]] = []
                deepest = stack = 0
                for word, merged in zip(pieces, ends, strict=True):
                    for place in range(len(word)):
                        last = place + 1 == len(word)
                        k = len(word) - 1 + merged if last else 0
                        moves += [("start" if place == 0 else "continue", 0), ("attach", k)]
                        stack += 1 - k
                        deepest = max(deepest, stack)
                if deepest <= system.attach_limit:
                    expected.add(tuple(moves))
    lanes = system.lane_states.begin(torch.tensor([-1]), width=longest + 4)
    found = list(lane_derivations(system, lanes, (), longest))
    assert len(found) == len(set(found))
    assert set(found) == expected


def compositions(total: int) -> Iterator[tuple[int, ...]]:
    """Ways to write a number as a sum."""
    if total == 0:
        yield ()
    for first in range(1, total + 1):
        for rest in compositions(total - first):
            yield (first, *rest)


def forests(words: int, whole: bool) -> Iterator[tuple[int, ...]]:
    """For each word, with how many constituents it is merged; in the end one is left, if it is to be a whole tree."""

    def extend(done: tuple[int, ...], stack: int) -> Iterator[tuple[int, ...]]:
        if len(done) == words:
            if not whole or stack == 1:
                yield done
            return
        for k in range(stack + 1):
            yield from extend((*done, k), stack + 1 - k)

    return extend((), 0)


def lane_derivations(
    system: ShiftAttach, lanes: LaneStates, done: tuple[tuple[str, int], ...], longest: int
) -> Iterator[tuple[tuple[str, int], ...]]:
    """Complete derivations from the state of one lane, by its legality and by what the next subword must be."""
    allowed = legal(system, lanes)[0].nonzero().flatten().tolist()
    must_start, must_continue = system.open_words(FeatureTable(lanes.feature_names, lanes.features()))
    options: list[tuple[int, bool, tuple[str, int]]] = []
    for number in allowed:
        if number == FINISH:
            yield done
        elif number == GENERATE:
            if sum(name in ("start", "continue") for name, _ in done) < longest:
                options += [(number, True, ("start", 0))] * (not bool(must_continue))
                options += [(number, False, ("continue", 0))] * (not bool(must_start))
        else:
            k = system.table.entries[number][1]
            assert isinstance(k, int)
            options.append((number, False, ("attach", k)))
    for number, starts, move in options:
        after = lanes.fork(torch.tensor([0]))
        step = LaneActions.of(system.table, torch.tensor([number]), torch.tensor([1]), torch.tensor([starts]))
        after.apply(step, after.change(step))
        yield from lane_derivations(system, after, (*done, move), longest)


def test_shift_attach_has_one_derivation_for_each_binary_tree() -> None:
    audit_shift_attach(ShiftAttach(), ShiftAttach(derivations="all"), range(1, 7))
    audit_shift_attach(ShiftAttach(attach_limit=3), ShiftAttach(attach_limit=3, derivations="all"), range(1, 6))


def test_catalan_numbers() -> None:
    system, everything = ShiftAttach(), ShiftAttach(derivations="all")
    for words in range(1, 8):
        assert len(derivations(system, words, known=True)) == system.count_trees(words) == catalan(words - 1)
        assert len(derivations(everything, words, known=True)) == catalan(words)
    assert catalan(6) == 132  # what the original's search has for six words, which have 42 trees


def test_what_is_left_at_the_end_is_swallowed() -> None:
    """With derivations="all" a forest may be left; <END> makes one constituent of it, as if the last word had."""
    everything = ShiftAttach(derivations="all")
    trees = [everything.tree(actions) for actions in derivations(everything, 4, known=True)]
    assert {tree.key for tree in trees} == set(enumerate_binary(4))
    left_alone = [GEN("a"), ATTACH.at(0), GEN("b"), ATTACH.at(1), GEN("c"), ATTACH.at(0), GEN("d"), ATTACH.at(0), END]
    assert everything.tree(left_alone).key == ((1, 4), (1, 2), (3, 4))


def without(system: TransitionSystem, operation: Operation, says: str) -> None:
    """Take a clause out of a system; a rule that has lost its only clause always holds."""
    rest = tuple(clause for clause in system.active_rules[operation] if clause.says != says)
    always = (Clause("always", lambda s, k: True),)
    system.active_rules = {**system.active_rules, operation: rest or always}


FAILURES = (AssertionError, DeadEnd, IndexError, ValueError, RecursionError)


def fails(audit: Callable[[], None]) -> bool:
    try:
        audit()
    except FAILURES:
        return True
    return False


TOP_DOWN_CLAUSES = [(operation, c.says) for operation, some in top_down(True).active_rules.items() for c in some]
ATTACH_CLAUSES = [(operation, c.says) for operation, some in ShiftAttach().active_rules.items() for c in some]


@pytest.mark.parametrize(("operation", "says"), TOP_DOWN_CLAUSES)
def test_no_clause_of_top_down_is_superfluous(operation: Operation, says: str) -> None:
    """In the typed or in the untyped system: a typed closing bracket finds no label where no phrase is open."""
    failed = []
    for typed in (True, False):
        system = top_down(typed)
        without(system, operation, says)
        failed.append(fails(lambda: audit_top_down(system, range(1, 4))))  # noqa: B023 - used at once
    assert any(failed)
    if says not in ("a phrase is open", "the label is that of the phrase"):
        assert all(failed)


@pytest.mark.parametrize(("operation", "says"), ATTACH_CLAUSES)
def test_no_clause_of_shift_attach_is_superfluous(operation: Operation, says: str) -> None:
    system, everything = ShiftAttach(attach_limit=3), ShiftAttach(attach_limit=3, derivations="all")
    without(system, operation, says)
    without(everything, operation, says)
    assert fails(lambda: audit_shift_attach(system, everything, range(1, 5)))


# The worked example, move by move; in comments what is open, or on the stack.
def test_the_worked_example_top_down() -> None:
    system = transitions.get("top-down", labels=LABELS)
    assert system.oracle(FIVE_TREES[1]) == (
        NT("S"),  # (S
        NT("NP"),  # (S (NP
        NT("NP"),  # (S (NP (NP
        GEN("The"),
        GEN("man"),
        REDUCE.at("NP"),  # (S (NP NP
        NT("SBAR"),  # (S (NP NP (SBAR
        NT("WHNP"),
        GEN("who"),
        REDUCE.at("WHNP"),  # (S (NP NP (SBAR WHNP
        NT("S"),
        NT("VP"),
        GEN("left"),
        REDUCE.at("VP"),  # (S (NP NP (SBAR WHNP (S VP
        REDUCE.at("S"),
        REDUCE.at("SBAR"),
        REDUCE.at("NP"),  # (S NP
        NT("VP"),
        GEN("is"),
        NT("ADJP"),
        GEN("old"),
        REDUCE.at("ADJP"),
        REDUCE.at("VP"),
        REDUCE.at("S"),
        END,
    )


def test_the_worked_example_shift_attach() -> None:
    """k = 0 1 0 2 0 2, as the authors' oracle has it."""
    system = transitions.get("shift-attach")
    assert system.oracle(FIVE_TREES[1].binarize()) == (
        GEN("The"),
        ATTACH.at(0),  # The
        GEN("man"),
        ATTACH.at(1),  # (The man)
        GEN("who"),
        ATTACH.at(0),  # (The man) who
        GEN("left"),
        ATTACH.at(2),  # ((The man) (who left))
        GEN("is"),
        ATTACH.at(0),
        GEN("old"),
        ATTACH.at(2),  # (((The man) (who left)) (is old))
        END,
    )


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("name", ["top-down", "untyped", "shift-attach"])
def test_the_five_trees(name: str, number: int) -> None:
    typed = name != "untyped"
    system: TransitionSystem = ShiftAttach() if name == "shift-attach" else TopDown(labels=LABELS, typed_closing=typed)
    tree = FIVE_TREES[number].binarize() if name == "shift-attach" else FIVE_TREES[number]
    assert [str(action) for action in system.oracle(tree)] == [
        named(move, typed) for move in moves_of(tree, [[word] for word in tree.words])
    ]
    assert system.tree(system.oracle(tree)) == tree
    # With tele|scope as two subwords, in a batch.
    split = split_of(tree)
    names = ["", *(piece for word in split for piece in word)]
    numbers = iter(range(1, len(names)))
    derived = system.derive(SentenceBatch.of([tree], [[[next(numbers) for _ in word] for word in split]]))
    found = [
        named(("GEN", names[piece]), typed) if piece > 0 else str(system.table.actions[number])
        for number, piece in zip(derived.id.tolist(), derived.piece.tolist(), strict=True)
    ]
    assert found == [named(move, typed) for move in moves_of(tree, split)]


def test_an_illegal_action_says_what_is_legal() -> None:
    system = TopDown(labels=TWO)
    state = system.apply(system.initial(("a", "b")), NT("A"))
    with pytest.raises(
        IllegalTransition,
        match=r"REDUCE\(A\) is not legal in top-down after 0 words with \(A open. Legal here: GEN\(a\), NT\(A\), NT\(B\)",
    ):
        system.apply(state, REDUCE.at("A"))
    state = system.apply(state, GEN("a"))
    for wrong in (REDUCE.at("A"), REDUCE.at("B"), REDUCE, END, NT("C"), GEN("c"), ATTACH.at(0)):
        with pytest.raises(IllegalTransition, match="is not legal in top-down after 1 words"):
            system.apply(state, wrong)
    attach = ShiftAttach()
    waiting = attach.apply(attach.initial(("a", "b")), GEN("a"))
    with pytest.raises(
        IllegalTransition,
        match=r"GEN\(b\) is not legal in shift-attach .* a word to be attached. Legal here: ATTACH\[0\]",
    ):
        attach.apply(waiting, GEN("b"))
    with pytest.raises(IllegalTransition, match=r"ATTACH\[1\] is not legal"):
        attach.apply(waiting, ATTACH.at(1))


def test_a_broken_off_derivation_is_no_tree() -> None:
    with pytest.raises(TransitionError, match="not complete: it stops after 1 words"):
        TopDown(labels=TWO).tree([NT("A"), GEN("a"), REDUCE.at("A")])


def test_trees_of_another_kind_or_with_other_labels() -> None:
    arcs, phrases = DependencyTree(("a", "b"), (0, 1)), ConstituencyTree(("a", "b"), (("C", 1, 2),))  # type: ignore[arg-type]
    system, attach = TopDown(labels=TWO), ShiftAttach()
    with pytest.raises(InputError, match="top-down derives phrase-structure trees; this is a DependencyTree"):
        system.oracle(arcs)
    with pytest.raises(
        InputError, match=r"the tree of 'a b' has phrases labelled C, which the model does not know. Known: A, B"
    ):
        system.oracle(phrases)
    for wrong in (arcs, phrases):
        with pytest.raises(InputError, match=f"shift-attach derives binary trees; this is a {type(wrong).__name__}"):
            attach.oracle(wrong)
    pieces = [[[1], [2]]]
    with pytest.raises(InputError, match="this batch has DependencyColumns"):
        system.derive(SentenceBatch.of([arcs], pieces))
    with pytest.raises(InputError, match="this batch has none"):
        system.derive(SentenceBatch.of_words(pieces))
    with pytest.raises(
        InputError, match=r"the trees have phrases labelled C, which the model does not know. Known: A, B"
    ):
        system.derive(SentenceBatch.of([phrases], pieces))
    with pytest.raises(InputError, match=r"binary trees or phrases are needed .* this batch has DependencyColumns"):
        attach.derive(SentenceBatch.of([arcs], pieces))


def test_trees_beyond_the_limits() -> None:
    deep = ConstituencyTree(("a", "b"), [("A", 1, 2), ("A", 1, 2), ("A", 1, 1)])  # type: ignore[arg-type]
    small = ConstituencyTree(("a", "b"), [("A", 1, 2), ("A", 2, 2)])  # type: ignore[arg-type]
    pieces = [[1], [2]]
    for system, limits in (
        (TopDown(labels=TWO, max_open=2, max_chain=3), "2 and 3"),
        (TopDown(labels=TWO, max_open=3, max_chain=2), "3 and 2"),
    ):
        assert system.reaches(small)
        assert not system.reaches(deep)
        message = f"has 3 open phrases and 3 that begin at one word; the limits are {limits}"
        with pytest.raises(TooFarError, match=message):
            system.oracle(deep)
        with pytest.raises(TooFarError, match=message):
            system.derive(SentenceBatch.of([small, deep], [pieces] * 2))
    waits = BinaryTree(sentence(6), tuple((first, 6) for first in range(1, 6)))
    attach = ShiftAttach(attach_limit=4)
    assert not attach.reaches(waits)
    assert ShiftAttach(attach_limit=5).oracle(waits)[-2] == ATTACH.at(5)
    with pytest.raises(TooFarError, match="needs 5 constituents on the stack; the limit is 4"):
        attach.oracle(waits)
    with pytest.raises(
        TooFarError, match="sentence 2 of the batch needs 5 constituents on the stack, subwords counted"
    ):
        attach.derive(SentenceBatch.of([BinaryTree(("a",), ()), waits], [[[1]], [[1]] * 6]))
    # Subwords wait as well.
    with pytest.raises(TooFarError, match="sentence 1 of the batch needs 5 constituents"):
        attach.derive(SentenceBatch.of([BinaryTree(("a", "b"), ((1, 2),))], [[[1], [2, 3, 4, 5, 6]]]))
    short = SentenceBatch.of([BinaryTree(("a", "b"), ((1, 2),))], [[[1], [2, 3, 4, 5]]])
    assert attach.derive(short).id.tolist()[-2] == attach.table.id_of(ATTACH.at(4))


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="labels of phrases are expected, each once"):
        TopDown(labels=("A", "A"))
    with pytest.raises(InputError, match="labels of phrases are expected"):
        TopDown(labels=())
    with pytest.raises(InputError, match="max_open and max_chain must be at least 1, not 0 and 2"):
        TopDown(max_open=0, max_chain=2)
    with pytest.raises(InputError, match="attach_limit must be at least 1, not 0"):
        ShiftAttach(attach_limit=0)


def test_limits_leave_no_dead_ends_on_random_walks() -> None:
    """Up to the limits and back, text known or not: something is always legal until <END>."""
    chance = random.Random(1)
    for system in (
        top_down(True, 2, 2),
        top_down(False, 3, 1),
        ShiftAttach(attach_limit=2),
        ShiftAttach(attach_limit=1),
    ):
        for known in (True, False):
            for _ in range(200):
                state: State = system.initial(sentence(chance.randint(1, 8)) if known else None)
                while state.last != Operation.END:
                    options = system.legal(state)
                    assert options
                    action = chance.choice(options)
                    state = system.apply(state, GEN("w") if action == GEN() else action)
