"""Transition systems, audited by enumeration: one derivation for each tree, no dead ends, no clause too many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtg import DependencyTree, transitions
from dtg.errors import IllegalTransition, InputError, NonProjectiveError, TooFarError, TransitionError, UnknownNameError
from dtg.transitions import END, GEN, LEFTARC, POP, RIGHTARC, Action, Operation, State, TransitionSystem
from dtg.transitions.arcs.arc_eager import ArcEager
from dtg.transitions.arcs.arc_swift import ArcSwift
from dtg.transitions.rules import TEXT_GOES_ON, Clause
from tests.twins import every_projective_tree, random_projective_heads

TREE_SYSTEMS = ("arc-standard", "arc-hybrid", "arc-eager", "arc-swift", "arc-standard-released")
TREES = {1: 1, 2: 2, 3: 7, 4: 30, 5: 143, 6: 728}


class DeadEnd(Exception):  # noqa: N818
    pass


def sentence(length: int) -> tuple[str, ...]:
    return tuple(f"w{i}" for i in range(1, length + 1))


def walk(system: TransitionSystem, state: State, most_words: int) -> Iterator[tuple[Action, ...]]:
    """Every complete derivation from `state`; where the text is not known, those of at most so many words."""
    if state.last == Operation.END:
        assert system.legal(state) == ()
        yield ()
        return
    options = system.legal(state)
    if not options:
        raise DeadEnd(state)
    for action in options:
        if action == GEN():
            assert state.text is None  # else there is one word that it may generate
            if len(state.words) == most_words:
                continue
            action = GEN(f"w{len(state.words) + 1}")
        after = system.apply(state, action)
        if after == state:
            raise DeadEnd("a derivation without end")
        for rest in walk(system, after, most_words):
            yield (action, *rest)


def derivations(system: TransitionSystem, length: int, *, known: bool) -> list[tuple[Action, ...]]:
    """Of sentences of this length, with the text known beforehand or not."""
    if known:
        return list(walk(system, system.initial(sentence(length)), length))
    found = walk(system, system.initial(), length)
    return [actions for actions in found if sum(action.operation == Operation.GEN for action in actions) == length]


def audit(system: TransitionSystem, lengths: range) -> None:
    """Exactly one derivation for each projective tree, and it is the oracle's, whether the text is known or not."""
    assert derivations(system, 0, known=False) == []
    for length in lengths:
        oracle = {system.oracle(DependencyTree(sentence(length), heads)) for heads in every_projective_tree(length)}
        assert len(oracle) == TREES[length]
        for known in (True, False):
            found = derivations(system, length, known=known)
            assert len(found) == len(set(found)) == TREES[length]
            assert set(found) == oracle


@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_one_derivation_for_each_tree(name: str) -> None:
    audit(transitions.get(name), range(1, 7))


def clauses(name: str) -> list[tuple[Operation, int]]:
    rules = transitions.SYSTEMS[name].rules
    return [(operation, place) for operation in rules for place in range(len(rules[operation]))]


@pytest.mark.parametrize(
    ("name", "operation", "place"), [(name, *clause) for name in (*TREE_SYSTEMS, "words") for clause in clauses(name)]
)
def test_no_clause_is_superfluous(name: str, operation: Operation, place: int) -> None:
    """Without any one clause the audit fails, or, for what `all` keeps, the count of all derivations changes."""
    canonical, everything = transitions.get(name), transitions.get(name, derivations="all")
    gone = canonical.rules[operation][place]
    for system in (canonical, everything):
        rest = tuple(clause for clause in system.active_rules[operation] if clause is not gone)
        # A rule that has lost its only clause always holds.
        always = (Clause("always", lambda s, k: True),)
        system.active_rules = {**system.active_rules, operation: rest or always}
    with pytest.raises((AssertionError, DeadEnd, IndexError, ValueError)):
        if name == "words":
            audit_words(canonical)
        else:
            audit(canonical, range(1, 5))
            for known in (True, False):
                assert len(derivations(everything, 4, known=known)) == ALL_AT_4[name]


def audit_words(system: TransitionSystem) -> None:
    tree = DependencyTree(("w1", "w2", "w3"), (3, 1, 0))
    assert derivations(system, 0, known=False) == []
    assert derivations(system, 3, known=True) == derivations(system, 3, known=False) == [system.oracle(tree)]


ALL_AT_4 = {"arc-standard": 40, "arc-hybrid": 30, "arc-eager": 32, "arc-swift": 30, "arc-standard-released": 40}


def test_all_derivations_are_more() -> None:
    """The design's counts: 1,344 in arc-standard at six words; arc-eager with POP's head as its only condition, 2,820."""
    assert len(derivations(transitions.get("arc-standard", derivations="all"), 6, known=True)) == 1344
    for name, count in ALL_AT_4.items():
        assert len(derivations(transitions.get(name, derivations="all"), 4, known=False)) == count
    loose = ArcEager(derivations="all")
    needs_head = Clause(
        "the top has a head, or is <ROOT> at the end",
        lambda s, k: (s.headed_run >= 1) | ((s.depth == 1) & (s.words_left == 0) & (s.headless == 0)),
    )
    loose.active_rules = {**loose.active_rules, Operation.GEN: (TEXT_GOES_ON,), Operation.POP: (needs_head,)}
    assert sum(1 for _ in walk_past_dead_ends(loose, loose.initial(sentence(6)))) == 2820


def walk_past_dead_ends(system: TransitionSystem, state: State) -> Iterator[State]:
    if state.last == Operation.END:
        yield state
    for action in system.legal(state):
        yield from walk_past_dead_ends(system, system.apply(state, action))


@pytest.mark.parametrize("length", range(1, 6))
def test_arc_hybrid_has_the_derivations_of_arc_standard(length: int) -> None:
    standard, hybrid = transitions.get("arc-standard"), transitions.get("arc-hybrid")
    assert set(derivations(standard, length, known=True)) == set(derivations(hybrid, length, known=True))


def prefixes_agree(standard: State, hybrid: State) -> bool:
    """The same actions are legal all along the way."""
    first, second = transitions.get("arc-standard"), transitions.get("arc-hybrid")
    if set(first.legal(standard)) != set(second.legal(hybrid)):
        return False
    return all(prefixes_agree(first.apply(standard, a), second.apply(hybrid, a)) for a in first.legal(standard))


def test_arc_hybrid_allows_the_same_at_every_step() -> None:
    text = sentence(4)
    assert prefixes_agree(transitions.get("arc-standard").initial(text), transitions.get("arc-hybrid").initial(text))


@pytest.mark.parametrize("name", TREE_SYSTEMS)
@given(length=st.integers(1, 40), chance=st.randoms(use_true_random=False), chain=st.sampled_from([0.0, 0.6, 1.0]))
def test_oracle_and_back(name: str, length: int, chance: object, chain: float) -> None:
    heads = random_projective_heads(length, chance, chain=chain)  # type: ignore[arg-type]
    tree = DependencyTree(sentence(length), heads)
    system = ArcSwift(distance_limit=40) if name == "arc-swift" else transitions.get(name)
    actions = system.oracle(tree)
    assert system.tree(actions) == tree
    state = system.initial(tree.words)
    for action in actions:  # also legal, and the preferred of what is legal, when the text is known
        assert action in system.legal(state)
        state = system.apply(state, action)


# The appendix's and Figure 2's derivations, move by move, in comments what is on the stack (| before the buffer).
def test_figure_2_in_arc_standard() -> None:
    tree = DependencyTree(tuple("There is a difference".split()), (2, 0, 4, 2))
    assert transitions.get("arc-standard").oracle(tree) == (
        GEN("There"),  # <ROOT> There
        GEN("is"),  # <ROOT> There is
        LEFTARC,  # <ROOT> is
        GEN("a"),  # <ROOT> is a
        GEN("difference"),  # <ROOT> is a difference
        LEFTARC,  # <ROOT> is difference
        RIGHTARC,  # <ROOT> is
        RIGHTARC,  # <ROOT>
        END,
    )


def test_figure_2_as_released() -> None:
    tree = DependencyTree(tuple("There is a difference".split()), (2, 0, 4, 2))
    assert transitions.get("arc-standard-released").oracle(tree) == (
        GEN("There"),  # <ROOT> There
        GEN("is"),  # <ROOT> There is
        LEFTARC,  # <ROOT> is
        GEN("a"),  # <ROOT> is a
        GEN("difference"),  # <ROOT> is a difference
        LEFTARC,  # <ROOT> is difference
        RIGHTARC,  # <ROOT> is
        Action(Operation.POPROOT),  # <ROOT>
        END,
    )


def test_appendix_a_in_arc_eager() -> None:
    tree = DependencyTree(tuple("There is a difference".split()), (2, 0, 4, 2))
    assert transitions.get("arc-eager").oracle(tree) == (
        GEN("There"),  # <ROOT> | There
        GEN("is"),  # <ROOT> There | is
        LEFTARC,  # <ROOT> | is
        RIGHTARC,  # <ROOT> is |
        GEN("a"),  # <ROOT> is | a
        GEN("difference"),  # <ROOT> is a | difference
        LEFTARC,  # <ROOT> is | difference
        RIGHTARC,  # <ROOT> is difference |
        POP,  # <ROOT> is |
        POP,  # <ROOT> |
        POP,  # |
        END,
    )


def test_appendix_a_in_arc_swift() -> None:
    tree = DependencyTree(tuple("There is a difference .".split()), (2, 0, 4, 2, 2))
    assert transitions.get("arc-swift").oracle(tree) == (
        GEN("There"),  # <ROOT> | There
        GEN("is"),  # <ROOT> There | is
        LEFTARC.at(1),  # <ROOT> | is
        RIGHTARC.at(1),  # <ROOT> is |
        GEN("a"),  # <ROOT> is | a
        GEN("difference"),  # <ROOT> is a | difference
        LEFTARC.at(1),  # <ROOT> is | difference
        RIGHTARC.at(1),  # <ROOT> is difference |
        GEN("."),  # <ROOT> is difference | .
        RIGHTARC.at(2),  # <ROOT> is . |
        END,
    )


def test_words_generates_words_alone() -> None:
    words = transitions.get("words")
    tree = DependencyTree(("w1", "w2", "w3"), (3, 1, 0))
    assert words.oracle(tree) == (GEN("w1"), GEN("w2"), GEN("w3"), END)
    assert words.legal(words.initial()) == (GEN(),)
    audit_words(words)
    with pytest.raises(TransitionError, match="builds no tree"):
        words.tree(words.oracle(tree))


def test_an_illegal_action_says_what_is_legal() -> None:
    system = transitions.get("arc-standard")
    state = system.apply(system.initial(("a", "b")), GEN("a"))
    with pytest.raises(
        IllegalTransition, match=r"LEFTARC is not legal in arc-standard after 1 words.*Legal here: GEN\(b\)"
    ):
        system.apply(state, LEFTARC)
    with pytest.raises(IllegalTransition, match=r"GEN\(c\) is not legal"):
        system.apply(state, GEN("c"))
    with pytest.raises(IllegalTransition, match="POP is not legal"):
        system.apply(state, POP)
    with pytest.raises(IllegalTransition, match=r"RIGHTARC\[2\] is not legal"):
        system.apply(replace(state, text=("a",)), RIGHTARC.at(2))


def test_a_broken_off_derivation_is_no_tree() -> None:
    with pytest.raises(TransitionError, match="not complete: it stops after 1 words"):
        transitions.get("arc-standard").tree([GEN("a")])


@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_crossing_arcs_have_no_oracle(name: str) -> None:
    with pytest.raises(NonProjectiveError, match="crossing arcs"):
        transitions.get(name).oracle(DependencyTree(tuple("abcd"), (3, 4, 0, 3)))


def test_arc_swift_has_a_limit() -> None:
    chain = DependencyTree(
        sentence(30), (0, *range(1, 29), 1)
    )  # every word under the one before, the last under the first
    with pytest.raises(TooFarError, match="needs an arc over 29 stack items; the limit is 20"):
        ArcSwift().oracle(chain)
    assert ArcSwift(distance_limit=29).oracle(chain)[-2] == RIGHTARC.at(29)
    with pytest.raises(InputError, match="at least 1"):
        ArcSwift(distance_limit=0)


def test_unknown_names() -> None:
    with pytest.raises(
        UnknownNameError,
        match="arc-standard, arc-hybrid, arc-eager, arc-swift, words, top-down, shift-attach, arc-standard",
    ):
        transitions.get("arc-wrong")
    with pytest.raises(UnknownNameError, match="canonical, all"):
        transitions.get("words", derivations="some")  # type: ignore[arg-type]
