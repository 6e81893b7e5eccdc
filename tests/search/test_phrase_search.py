"""Beam search of phrase-structure models against brute force: exact with room for every derivation, a bound without."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch

from dtg import ConstituencyTree
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel
from dtg.model.model import make_family
from dtg.scoring.tree_scores import score_derivations
from dtg.search import expansion
from dtg.search.beam_search import BeamSearch
from dtg.search.evaluator import Evaluator
from dtg.search.expansion import Agenda, Pool
from dtg.search.kv_cache import KVCache
from dtg.search.options import BeamOptions
from dtg.search.prefix_trie import search_all
from dtg.search.state import BeamState
from dtg.transitions import Action, Operation
from dtg.transitions.action import NOTHING
from dtg.transitions.table import FINISH, GENERATE
from dtg.trees import BinaryTree
from dtg.trees.enumeration import enumerate_binary
from dtg.trees.kinds import PartialBinaryTree, PartialConstituencyTree
from tests.model.naive_phrases import naive_move_scores
from tests.model.test_phrase_models import random_pieces, tiny
from tests.phrase_twins import PHRASE_FAMILIES, Move, every_phrase_tree
from tests.search.brute import beginnings, derivations, log_sum

EVERYTHING: dict[str, Any] = {"beam": 100_000, "word_beam": 100_000}
SMALL: dict[str, Any] = {"labels": ("A", "B"), "max_open": 3, "max_chain": 2}
SMALLEST: dict[str, Any] = {"labels": ("A", "B"), "max_open": 2, "max_chain": 1}


def small(family: str, seed: int = 0, limits: dict[str, Any] = SMALL, **settings: Any) -> DecoderModel:
    return tiny(family, seed=seed, **({} if family == "pushdown" else limits), **settings)


def states(model: DecoderModel, pieces: Sequence[Sequence[int]], **options: Any) -> list[BeamState]:
    """The states after 0, 1, 2, ... words."""
    found = [LanguageModel(model).begin(**options)]
    for word in pieces:
        found.append(found[-1].step_ids(word))
    return found


def every_tree(model: DecoderModel, words: int) -> list[Any]:
    names = tuple(f"w{i}" for i in range(words))
    if model.config.family == "pushdown":
        return [BinaryTree(names, spans) for spans in enumerate_binary(words)]
    config = model.config
    every = every_phrase_tree(words, config.labels, config.max_open, config.max_chain)
    return [ConstituencyTree(names, nodes) for nodes in every]  # type: ignore[arg-type]


def exact(model: DecoderModel, pieces: Sequence[Sequence[int]], constrained: bool = True) -> float:
    """The sum over all trees; they are scored as a trie, which equals the naive model."""
    trees = every_tree(model, len(pieces))
    return log_sum(score_derivations(model, model.encode(trees, [pieces] * len(trees)), constrained))


def in_subwords(actions: Sequence[Action], pieces: Sequence[Sequence[int]]) -> Iterator[Move]:
    """A derivation by words as moves by subwords."""
    words, subwords = iter(pieces), 1
    attaches = any(action.operation == Operation.ATTACH for action in actions) or len(actions) == 1
    for action in actions:
        if action.operation == Operation.GEN:
            word = next(words)
            subwords = len(word)
            for place, piece in enumerate(word):
                if place and attaches:
                    yield "ATTACH", 0
                yield "GEN", str(piece)
        elif action.operation == Operation.ATTACH:
            assert isinstance(action.argument, int)
            yield "ATTACH", action.argument + subwords - 1
        else:
            yield action.operation.name, action.argument


def brute(model: DecoderModel, pieces: Sequence[Sequence[int]], constrained: bool, whole: bool, kind: Any) -> float:
    """log p of these words, and no others if they are the whole sentence, over every derivation, by the naive model."""
    system = make_family(model.config, kind).system
    words = [f"w{i}" for i in range(len(pieces))]
    found = []
    for actions in derivations(system, words) if whole else beginnings(system, words, len(words)):
        moves = list(in_subwords(actions, pieces))
        # What has only begun needs something to end with, which does not count.
        rest = [] if whole else [*([("ATTACH", 0)] if model.attachment is not None else []), ("END", None)]
        scores = naive_move_scores(model, [*moves, *rest], constrained=constrained)
        found.append(sum(score for _, score in scores[: len(moves)]))
    return log_sum(found)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
@pytest.mark.parametrize("head", ["factored", "joint"])
def test_prefixes_and_sentences_equal_brute_force(family: str, head: str) -> None:
    model = small(family, head=head, limits=SMALLEST)
    pieces = [[1], [2, 9, 8], [3]] if family == "pushdown" else [[1], [2, 9]]
    for constrained in (True, False):
        found = states(model, pieces, constrained=constrained, **EVERYTHING)
        for number in range(1, len(pieces) + 1):
            expected = brute(model, pieces[:number], constrained, False, "canonical")
            assert found[number].log_probability == pytest.approx(expected, rel=1e-10)
            assert found[number].kept == pytest.approx(1.0)
        expected = brute(model, pieces, constrained, True, "canonical")
        assert found[-1].end().log_probability == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_equal_to_enumeration(family: str) -> None:
    chance = random.Random(7)
    for seed, words in (
        (0, 3),
        (1, 2),
        (2, 4 if family == "pushdown" else 3),
        (3, 1),
        (4, 5 if family == "pushdown" else 3),
    ):
        constrained = bool(seed % 2)
        model = small(family, seed=seed, head=chance.choice(["factored", "joint"]))
        pieces = random_pieces(words, chance)
        found = states(model, pieces, constrained=constrained, **EVERYTHING)[-1]
        assert found.end().log_probability == pytest.approx(exact(model, pieces, constrained), rel=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_equal_to_enumeration_of_four_words(family: str) -> None:
    for seed, constrained in enumerate((True, False)):
        model = small(family, seed=seed)
        pieces = random_pieces(7 if family == "pushdown" else 4, random.Random(seed))
        found = states(model, pieces, constrained=constrained, **EVERYTHING)[-1].end()
        assert found.log_probability == pytest.approx(exact(model, pieces, constrained), rel=1e-11)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_pruned_beams_are_lower_bounds(family: str) -> None:
    chance = random.Random(9)
    pruned_some = False
    for seed in range(3):
        model = small(family, seed=seed)
        pieces = random_pieces(6 if family == "pushdown" else 3, chance)
        whole = states(model, pieces, **EVERYTHING)
        for options in (
            {"beam": 1},
            {"beam": 3, "word_beam": 2},
            {"beam": 20, "word_beam": 4},
            {"beam": 8, "word_beam": 20, "fast_track": 2},
        ):
            some = states(model, pieces, **options)
            for pruned, full in zip(some, whole, strict=True):
                assert pruned.log_probability <= full.log_probability + 1e-12
                assert 0.0 < pruned.kept <= 1.0 + 1e-12
            assert some[-1].end().log_probability <= whole[-1].end().log_probability + 1e-12
            pruned_some |= some[-1].kept < 0.999
    assert pruned_some


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_surprisals_sum_to_the_sentence(family: str) -> None:
    model = small(family)
    pieces = random_pieces(3, random.Random(10))
    for options in (EVERYTHING, {"beam": 12, "word_beam": 3}):
        found = states(model, pieces, **options)
        end = found[-1].end()
        total = sum(state.surprisal for state in found) + end.surprisal
        assert total == pytest.approx(-end.log_probability, rel=1e-12)
        for state in found[1:]:
            assert state.lexical + state.structural == pytest.approx(state.surprisal, rel=1e-9, abs=1e-12)
            assert state.lexical >= 0.0
            assert state.structural >= -1e-12


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_trees_of_a_whole_beam_are_all_trees_with_their_scores(family: str) -> None:
    model = small(family)
    pieces = [[1], [2, 9], [3, 8, 10]]
    end = states(model, pieces, **EVERYTHING)[-1].end()
    trees, every = end.trees(None), every_tree(model, 3)
    assert {scored.tree.key for scored in trees} == {tree.key for tree in every}
    assert len(trees) == len(every)
    assert [t.log_probability for t in trees] == sorted((t.log_probability for t in trees), reverse=True)
    batch = model.encode([t.tree for t in trees[:5]], [pieces] * len(trees[:5]))
    assert model.score_batch(batch).tolist() == pytest.approx([t.log_probability for t in trees[:5]], rel=1e-11)


def test_partial_phrases() -> None:
    """Before the first word something is opened; after it, phrases are open, and some may have been closed."""
    found = states(small("tg", limits=SMALL | {"labels": ("A",)}), [[1], [2, 9]], **EVERYTHING)
    first = found[1].trees(None)
    assert all(isinstance(tree, PartialConstituencyTree) for tree in first)
    assert {tree.nodes for tree in first} == {(("A", 1, None),), (("A", 1, None), ("A", 1, None))}
    assert [tree.open for tree in first if len(tree.nodes) == 2] == [("A", "A")]
    assert sum(tree.probability for tree in first) == pytest.approx(1.0)
    assert found[1].stack_depth == pytest.approx(sum(len(tree.open) * tree.probability for tree in first))
    second = found[2].trees(None)
    assert (("A", 1, None), ("A", 1, 1), ("A", 2, None)) in {tree.nodes for tree in second}
    assert found[2].stack_depth == pytest.approx(sum(len(tree.open) * tree.probability for tree in second))
    assert "w" in second[0].draw()


def test_partial_binary_trees() -> None:
    """After a word it is not attached yet: structure after a word belongs to the next step."""
    found = states(small("pushdown"), [[1, 8], [2], [3, 9]], **EVERYTHING)
    assert all(isinstance(tree, PartialBinaryTree) for tree in found[2].trees())
    assert [tree.spans for tree in found[2].trees(None)] == [()]
    assert {tree.spans for tree in found[3].trees(None)} == {(), ((1, 2),)}
    assert sum(tree.probability for tree in found[3].trees(None)) == pytest.approx(1.0)
    assert {scored.tree.key for scored in found[3].end().trees(None)} == {((1, 3), (1, 2)), ((1, 3), (2, 3))}


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
@pytest.mark.parametrize("head", ["factored", "joint"])
@pytest.mark.parametrize("constrained", [True, False])
def test_probabilities_of_all_next_actions_sum_to_one(
    family: str, head: str, constrained: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every state that can be reached with up to three words, on the way to more words and to the end.

    In Pushdown a token that waits is attached, and nothing else; without constraints some of the probability points at rows
    that nothing can be attached to, as in the original.
    """
    model = small(family, head=head, limits=SMALL | {"max_open": 2})
    evaluated = expansion.prospects
    reached = Counter[int]()

    def watched(
        evaluator: Evaluator, cache: KVCache, new: Pool, before: int, ending: bool
    ) -> tuple[torch.Tensor, Agenda]:
        states = new.lanes.states
        features = states.features()
        choices, _ = evaluator.choices(new.lanes, cache, new.hidden, words_left=1)
        total = choices.exp().sum(1)
        waits = getattr(states, "pending", torch.zeros_like(states.last))[:, 0] == 1
        if constrained or family != "pushdown":
            assert torch.allclose(total, torch.ones_like(total), rtol=1e-10)
        else:
            assert torch.allclose(total[~waits], torch.ones_like(total[~waits]), rtol=1e-10)
            assert bool((total[waits] < 1.0).all())
        attach = choices[:, FINISH + 1 :] if family == "pushdown" else choices[:, :0]
        assert bool((choices[waits, : FINISH + 1] == -torch.inf).all())
        assert bool((attach[~waits] == -torch.inf).all())
        can_generate = choices[:, GENERATE] > -torch.inf
        hidden, features = new.hidden[can_generate], features[can_generate]
        if len(hidden):
            pieces = torch.zeros(len(hidden), dtype=torch.float64)
            for piece in range(model.config.vocabulary):
                pieces += evaluator.piece_log_probability(hidden, features, torch.full((len(hidden),), piece)).exp()
            assert torch.allclose(pieces, choices[can_generate, GENERATE].exp(), rtol=1e-10)
            assert torch.allclose(evaluator.pieces(hidden, features).exp().sum(1), torch.ones(len(hidden)).double())
        reached.update(states.last[:, 0].tolist())
        return evaluated(evaluator, cache, new, before, ending)

    monkeypatch.setattr(expansion, "prospects", watched)
    for state in states(model, [[1], [2, 9, 10], [3]], constrained=constrained, **EVERYTHING)[1:]:
        state.end()
    expected = (
        {Operation.GEN, Operation.ATTACH} if family == "pushdown" else {Operation.GEN, Operation.NT, Operation.REDUCE}
    )
    assert set(reached) == {NOTHING, *expected}  # states after every kind of action were met


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
@pytest.mark.parametrize("at_once", [1, 50])
def test_many_sentences_together_equal_one_at_a_time(family: str, at_once: int) -> None:
    model = small(family)
    base = random_pieces(5, random.Random(1))
    given = [
        [tuple(word) for word in words]
        for words in (
            random_pieces(3, random.Random(2)),
            base,
            base[:3],
            [*base[:4], *random_pieces(4, random.Random(3))],
            random_pieces(1, random.Random(4)),
            base,
        )
    ]
    found = list(search_all(BeamSearch(model, BeamOptions(beam=20, word_beam=6)), given, at_once))
    for words, result in zip(given, found, strict=True):
        alone = states(model, words, beam=20, word_beam=6)
        surprisals = [state.surprisal for state in alone[1:]]
        assert [statistics[1] for statistics in result.words] == pytest.approx(surprisals, rel=1e-11)
        assert result.log_probability == pytest.approx(alone[-1].end().log_probability, rel=1e-11)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_stepping_in_two_directions(family: str) -> None:
    """From one state two words, an end, and a word again: each as if the others had not been."""
    model = small(family)
    options: dict[str, Any] = {"beam": 15, "word_beam": 6}
    base = states(model, [[1], [2, 8]], **options)[-1]
    left, ending, right = base.step_ids([3, 9]), base.end(), base.step_ids([4])
    assert ending.log_probability == states(model, [[1], [2, 8]], **options)[-1].end().log_probability
    for end, words in ((left.step_ids([5]).end(), [[3, 9], [5]]), (right.step_ids([6, 10]).end(), [[4], [6, 10]])):
        assert end.log_probability == states(model, [[1], [2, 8], *words], **options)[-1].end().log_probability


def test_all_derivations_of_shift_attach() -> None:
    """Catalan(n) derivations, several for a tree: more probability is found without the clause that keeps them apart."""
    model = small("pushdown")
    pieces = [[1], [2, 9], [3], [4]]
    for constrained in (True, False):
        end = states(model, pieces, derivations="all", constrained=constrained, **EVERYTHING)[-1].end()
        trees = end.trees(None)
        assert len(trees) == 14
        assert len({scored.tree.key for scored in trees}) == 5
        assert end.log_probability == pytest.approx(log_sum([t.log_probability for t in trees]), rel=1e-10)
    free = states(model, pieces, constrained=False, **EVERYTHING)[-1].end()
    assert end.log_probability > free.log_probability
    assert end.log_probability == pytest.approx(brute(model, pieces, False, True, "all"), rel=1e-10)


def test_more_words_than_constituents_may_wait() -> None:
    """At the limit something must be merged; nothing breaks, and sums are those over the trees that are left."""
    model = small("pushdown", attach_limit=2)
    pieces = random_pieces(1, random.Random(5)) + [[number] for number in range(1, 5)]
    system = model.family.system
    trees = [tree for tree in every_tree(model, 5) if system.reaches(tree)]
    assert len(trees) == system.count_trees(5) < 14
    found = states(model, pieces, **EVERYTHING)[-1].end()
    expected = log_sum(model.score_batch(model.encode(trees, [pieces] * len(trees))).tolist())
    assert found.log_probability == pytest.approx(expected, rel=1e-10)
    assert math.isfinite(expected)
