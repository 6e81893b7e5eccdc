"""Beam search against brute force: with room for every derivation it is exact, without it is a bound."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import pytest
import torch

from dtg import DependencyTree
from dtg.errors import InputError, UnknownNameError
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel
from dtg.model.heads import FactoredHead
from dtg.scoring.tree_scores import score_derivations
from dtg.search import expansion
from dtg.search.evaluator import Evaluator
from dtg.search.expansion import Agenda, Pool, expansions_at_once
from dtg.search.kv_cache import KVCache
from dtg.search.options import BeamOptions
from dtg.search.state import BeamState
from dtg.transitions import Operation
from dtg.transitions.action import NOTHING
from dtg.transitions.table import GENERATE
from tests.dependency import DEPENDENCY_FAMILIES, as_dependency, as_partial
from tests.model.test_model import tiny
from tests.model.test_released import IDS, released_weights
from tests.search.brute import log_sum, prefix_log_probability, sentence_log_probability
from tests.twins import every_projective_tree

EVERYTHING: dict[str, Any] = {"beam": 10_000, "word_beam": 10_000}
WITH_TREES = ["dtg", "dtg-eager", "dtg-swift", "txl-trans"]


def random_pieces(words: int, chance: random.Random) -> list[list[int]]:
    """Words that begin with a piece below 8 and may go on with others."""
    return [
        [chance.randrange(8), *(chance.randrange(8, 12) for _ in range(chance.choice([0, 0, 0, 1, 2])))]
        for _ in range(words)
    ]


def states(model: DecoderModel, pieces: list[list[int]], **options: Any) -> list[BeamState]:
    """The states after 0, 1, 2, ... words."""
    found = [LanguageModel(model).begin(**options)]
    for word in pieces:
        found.append(found[-1].step_ids(word))
    return found


def exact(model: DecoderModel, pieces: list[list[int]], constrained: bool = True) -> float:
    """The sum over all trees; they are scored as a trie, which has tests of its own."""
    words = tuple(f"w{i}" for i in range(len(pieces)))
    every = every_projective_tree(len(pieces)) if model.has_trees else [tuple(range(len(pieces)))]
    trees = [DependencyTree(words, heads) for heads in every]
    return log_sum(score_derivations(model, model.encode(trees, [pieces] * len(trees)), constrained))


@pytest.mark.parametrize("family", DEPENDENCY_FAMILIES)
@pytest.mark.parametrize("head", ["factored", "joint"])
def test_prefixes_and_sentences_equal_brute_force(family: str, head: str) -> None:
    model = tiny(family, head=head)
    for constrained in (True, False):
        pieces = [[1], [2, 9, 8], [3], [4, 10]]
        if head == "joint" or not constrained:  # slow by brute force; more words: the test below
            del pieces[3]
        found = states(model, pieces, constrained=constrained, **EVERYTHING)
        for number in range(1, len(pieces) + 1):
            expected = prefix_log_probability(model, pieces[:number], constrained)
            assert found[number].log_probability == pytest.approx(expected, rel=1e-10)
            assert found[number].kept == pytest.approx(1.0)
        expected = sentence_log_probability(model, pieces, constrained)
        assert found[-1].end().log_probability == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("family", DEPENDENCY_FAMILIES)
def test_equal_to_enumeration(family: str) -> None:
    """Sentences of every length up to six words, by several models."""
    chance = random.Random(8)
    for seed, length in enumerate((1, 2, 3, 4, 5, 6, 4, 5)):
        model = tiny(family, seed=seed, head=chance.choice(["factored", "joint"]))
        for constrained in (True, False):
            pieces = random_pieces(length if constrained else min(length, 5), chance)
            found = states(model, pieces, constrained=constrained, **EVERYTHING)[-1].end()
            assert found.log_probability == pytest.approx(exact(model, pieces, constrained), rel=1e-11)


@pytest.mark.parametrize("family", WITH_TREES)
def test_pruned_beams_are_lower_bounds(family: str) -> None:
    chance = random.Random(9)
    pruned_some = False
    for seed in range(4):
        model = tiny(family, seed=seed)
        pieces = random_pieces(5, chance)
        whole = states(model, pieces, **EVERYTHING)
        for options in (
            {"beam": 1},
            {"beam": 3, "word_beam": 2},
            {"beam": 20, "word_beam": 4},
            {"beam": 8, "word_beam": 20},
        ):
            some = states(model, pieces, **options)
            for pruned, full in zip(some, whole, strict=True):
                assert pruned.log_probability <= full.log_probability + 1e-12
                assert 0.0 < pruned.kept <= 1.0 + 1e-12
            assert some[-1].end().log_probability <= whole[-1].end().log_probability + 1e-12
            pruned_some |= some[-1].kept < 0.999
    assert pruned_some


@pytest.mark.parametrize("family", DEPENDENCY_FAMILIES)
def test_surprisals_sum_to_the_sentence(family: str) -> None:
    model = tiny(family)
    pieces = random_pieces(6, random.Random(10))
    for options in (EVERYTHING, {"beam": 12, "word_beam": 3}):
        found = states(model, pieces, **options)
        end = found[-1].end()
        total = sum(state.surprisal for state in found) + end.surprisal
        assert total == pytest.approx(-end.log_probability, rel=1e-12)
        for state in found[1:]:
            assert state.lexical + state.structural == pytest.approx(state.surprisal, rel=1e-9, abs=1e-12)
            assert state.lexical >= 0.0
            assert state.structural >= -1e-12
        reductions = sum(state.entropy_reduction for state in found)
        assert reductions == pytest.approx(-found[-1].entropy, abs=1e-12)


@pytest.mark.parametrize("family", WITH_TREES)
def test_trees_of_a_whole_beam_are_all_trees_with_their_scores(family: str) -> None:
    model = tiny(family)
    pieces = random_pieces(4, random.Random(11))
    end = states(model, pieces, **EVERYTHING)[-1].end()
    trees = end.trees(None)
    assert {as_dependency(scored.tree).heads for scored in trees} == set(every_projective_tree(4))
    assert len(trees) == 30
    assert [t.log_probability for t in trees] == sorted((t.log_probability for t in trees), reverse=True)
    for scored in trees[:5]:
        alone = model.score_ids(pieces, as_dependency(scored.tree).heads, constrained=True)
        assert scored.log_probability == pytest.approx(alone, rel=1e-11)
    assert [t.tree for t in end.trees(3)] == [t.tree for t in trees[:3]]


def test_partial_trees() -> None:
    """After two words of arc-standard there is one partial tree; after three, the first word may have its head."""
    model = tiny("dtg")
    found = states(model, [[1], [2], [3]], **EVERYTHING)
    assert [as_partial(tree).heads for tree in found[2].trees()] == [(None, None)]
    trees = [as_partial(tree) for tree in found[3].trees(None)]
    # Before the third word: nothing, 1 <- 2, or 1 -> 2.
    assert {tree.heads for tree in trees} == {(None, None, None), (2, None, None), (None, 1, None)}
    assert {tree.stack for tree in trees} == {(0, 1, 2, 3), (0, 2, 3), (0, 1, 3)}
    assert sum(tree.probability for tree in trees) == pytest.approx(1.0)
    expected = sum(tree.probability * (len(tree.stack) - 1) for tree in trees)
    assert found[3].stack_depth == pytest.approx(expected)
    entropy = -sum(tree.probability * math.log(tree.probability) for tree in trees)
    assert found[3].entropy == pytest.approx(entropy)


def test_lexical_and_structural_from_their_definitions() -> None:
    """Over the states h before the word's GEN: E_posterior[-log p(word | h)] and KL(posterior || prior over h)."""
    model = tiny("dtg")
    before = states(model, [[1], [2]], **EVERYTHING)[-1]
    after = before.step_ids([3])
    candidates = before._candidates
    prior = (candidates.next_score - before.log_probability).exp()
    features = candidates.lanes.states.features()
    with torch.inference_mode():
        piece = torch.full((len(prior),), 3)
        joint = candidates.score + before.search.evaluator.piece_log_probability(candidates.hidden, features, piece)
    likelihood = (joint - candidates.next_score).exp()
    posterior = prior * likelihood / (prior * likelihood).sum()
    assert after.surprisal == pytest.approx(-float((prior * likelihood).sum().log()))
    assert after.lexical == pytest.approx(float((posterior * -likelihood.log()).sum()))
    assert after.structural == pytest.approx(float((posterior * (posterior / prior).log()).sum()))
    assert float(prior.sum()) < 1.0  # the rest is the probability that the sentence ends here


@pytest.mark.parametrize("family", DEPENDENCY_FAMILIES)
@pytest.mark.parametrize("head", ["factored", "joint"])
@pytest.mark.parametrize("constrained", [True, False])
def test_probabilities_of_all_next_actions_sum_to_one(
    family: str, head: str, constrained: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every state that can be reached with up to three words, on the way to more words and to the end."""
    model = tiny(family, head=head)
    evaluated = expansion.prospects
    reached = Counter[int]()

    def watched(
        evaluator: Evaluator, cache: KVCache, new: Pool, before: int, ending: bool
    ) -> tuple[torch.Tensor, Agenda]:
        features = new.lanes.states.features()
        choices, _ = evaluator.choices(new.lanes, cache, new.hidden, words_left=1)
        total = choices.exp().sum(1)
        assert torch.allclose(total, torch.ones_like(total), rtol=1e-10)
        can_generate = choices[:, GENERATE] > -torch.inf
        hidden, features = new.hidden[can_generate], features[can_generate]
        pieces = torch.zeros(len(hidden), dtype=torch.float64)
        for piece in range(model.config.vocabulary):
            pieces += evaluator.piece_log_probability(hidden, features, torch.full((len(hidden),), piece)).exp()
        assert torch.allclose(pieces, choices[can_generate, GENERATE].exp(), rtol=1e-10)
        if len(hidden):
            assert torch.allclose(evaluator.pieces(hidden, features).exp().sum(1), torch.ones(len(hidden)).double())
        reached.update(new.lanes.states.last[:, 0].tolist())
        return evaluated(evaluator, cache, new, before, ending)

    monkeypatch.setattr(expansion, "prospects", watched)
    for state in states(model, [[1], [2, 9], [3]], constrained=constrained, **EVERYTHING)[1:]:
        state.end()
    operations = set(model.family.system.rules) - {Operation.END}
    assert set(reached) == {NOTHING, *operations}  # states after every kind of action were met


def test_a_model_without_trees_is_surprised_at_words_alone() -> None:
    state = LanguageModel(tiny("txl-tokens")).begin().step_ids([1]).step_ids([2, 9])
    assert (state.lexical, state.structural) == (state.surprisal, 0.0)
    assert (state.entropy, state.stack_depth, state.kept) == (0.0, 0.0, 1.0)


def test_stepping_in_two_directions() -> None:
    """From one state two words, an end, and a word again: each as if the others had not been."""
    model = tiny("dtg-eager")
    options: dict[str, Any] = {"beam": 15, "word_beam": 6}
    base = states(model, [[1], [2, 8]], **options)[-1]
    left, ending, right = base.step_ids([3, 9]), base.end(), base.step_ids([4])
    left_end, right_end = left.step_ids([5]).end(), right.step_ids([6, 10]).end()
    assert ending.log_probability == states(model, [[1], [2, 8]], **options)[-1].end().log_probability
    assert left_end.log_probability == states(model, [[1], [2, 8], [3, 9], [5]], **options)[-1].end().log_probability
    assert right_end.log_probability == states(model, [[1], [2, 8], [4], [6, 10]], **options)[-1].end().log_probability


@pytest.mark.parametrize("family", WITH_TREES)
def test_how_many_are_followed_at_once_changes_nothing(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny(family)
    pieces = random_pieces(6, random.Random(12))
    expected = states(model, pieces, beam=16, word_beam=5)[-1].end().log_probability
    for share, worthwhile in ((1, 0), (16, 0), (16, 64)):
        monkeypatch.setattr(expansion, "AT_ONCE", share)
        monkeypatch.setattr(expansion, "WORTHWHILE", worthwhile)
        found = states(model, pieces, beam=16, word_beam=5)[-1].end().log_probability
        assert found == pytest.approx(expected, rel=1e-12)


def test_small_passes_follow_more() -> None:
    assert [expansions_at_once(100, sentences) for sentences in (1, 2, 64)] == [64, 32, 25]
    assert [expansions_at_once(10, sentences) for sentences in (1, 8, 64, 500)] == [10, 8, 2, 2]
    assert expansions_at_once(1, 500) == 1


@pytest.mark.parametrize("family", ["dtg", "dtg-eager"])
def test_all_derivations(family: str) -> None:
    """With derivations="all", trees are counted once for each derivation, and probabilities are shared among more actions."""
    model = tiny(family)
    pieces = [[1], [2], [3, 9], [4]]
    for constrained in (True, False):
        end = states(model, pieces, derivations="all", constrained=constrained, **EVERYTHING)[-1].end()
        expected = sentence_log_probability(model, pieces, constrained, "all")
        assert end.log_probability == pytest.approx(expected, rel=1e-10)
        assert len(end.trees(None)) > 30


@pytest.mark.parametrize("head", ["factored", "joint"])
def test_released_models(head: str) -> None:
    """The last arc and the end are generated as words; the sum over trees is the same."""
    model = DecoderModel.from_released(released_weights(), IDS, head=head).double()  # type: ignore[arg-type]
    pieces = [[1], [2, 8], [3], [4]]
    end = states(model, pieces, **EVERYTHING)[-1].end()
    assert end.log_probability == pytest.approx(exact(model, pieces, constrained=False), rel=1e-11)


@pytest.mark.parametrize("family", ["txl-trans", "txl-tokens"])
def test_released_transformer_xl(family: str) -> None:
    """Against brute force by the naive model, prefix by prefix."""
    weights = {name: tensor for name, tensor in released_weights().items() if not name.startswith("action_mlp")}
    model = DecoderModel.from_released(weights, IDS, family=family, head="joint").double()
    pieces = [[1], [2, 8], [3]]
    found = states(model, pieces, **EVERYTHING)
    for number in range(1, len(pieces) + 1):
        expected = prefix_log_probability(model, pieces[:number], constrained=False)
        assert found[number].log_probability == pytest.approx(expected, rel=1e-10)
        assert found[number].kept == pytest.approx(1.0)
    end = found[-1].end()
    assert end.log_probability == pytest.approx(exact(model, pieces, constrained=False), rel=1e-11)
    assert end.log_probability == pytest.approx(sentence_log_probability(model, pieces, constrained=False), rel=1e-10)
    if family == "txl-tokens":
        assert [state.structural for state in found] == [0.0] * 4
        with pytest.raises(InputError, match="txl-tokens generates words without a tree"):
            end.trees()


def test_no_more_than_so_many_actions_between_words() -> None:
    model = tiny("dtg")
    pieces = random_pieces(5, random.Random(13))
    found = states(model, pieces, max_actions=1, **EVERYTHING)
    whole = states(model, pieces, **EVERYTHING)
    assert found[3].log_probability == pytest.approx(whole[3].log_probability)  # no two arcs are possible before
    assert found[5].log_probability < whole[5].log_probability
    assert found[5].kept < 1.0
    none = states(model, pieces, max_actions=0, **EVERYTHING)[-1]
    assert [as_partial(tree).heads for tree in none.trees(None)] == [(None,) * 5]
    assert none.end().log_probability > -math.inf  # at the end the tree closes all the same


def test_fast_track_keeps_those_that_shift() -> None:
    """With a beam of one only the best way arrives; the fast track adds the best after 0, 1, ... actions."""
    model = tiny("dtg")
    pieces = random_pieces(5, random.Random(14))
    narrow = states(model, pieces, beam=1, word_beam=9)[-1]
    tracked = states(model, pieces, beam=1, word_beam=9, fast_track=2)[-1]
    assert len(narrow.trees(None)) == 1
    assert len(tracked.trees(None)) > 1
    assert tracked.log_probability > narrow.log_probability
    assert tracked.log_probability <= states(model, pieces, **EVERYTHING)[-1].log_probability


@pytest.mark.parametrize("family", ["dtg", "dtg-swift"])
def test_memory_stays_flat(family: str) -> None:
    """A long text: as many rows are alive after 100 words as after 40."""
    model = tiny(family)
    state = LanguageModel(model).begin(beam=10, word_beam=4)
    alive = []
    for word in random_pieces(100, random.Random(15)):
        state = state.step_ids(word)
        beams = state._beams
        alive.append((beams.cache.used, beams.cache.table.shape[1], beams.lanes.rows.shape[1]))
    rows, capacity, width = (max(column) for column in zip(*alive[60:], strict=True))
    early_rows, early_capacity, early_width = (max(column) for column in zip(*alive[15:40], strict=True))
    assert rows <= 2 * early_rows
    assert capacity <= 2 * early_capacity
    assert width <= 2 * early_width


def test_deeper_than_the_positions_go() -> None:
    """A stack of more than 62 words: the farthest share a position, and nothing breaks."""
    model = tiny("dtg")
    assert isinstance(model.head, FactoredHead)
    with torch.no_grad():
        model.head.outer.bias[GENERATE] = 50.0
    state = LanguageModel(model).begin(accuracy="fast")
    for _ in range(70):
        state = state.step_ids([1])
    assert state.stack_depth == pytest.approx(70.0)
    assert state.end().log_probability > -math.inf


def test_narrow_beams_take_more_sentences_together() -> None:
    assert [BeamOptions(beam=beam).sentences_together for beam in (1, 10, 20, 80, 300)] == [256, 256, 128, 32, 32]
    assert BeamOptions.of().sentences_together == 128


@pytest.mark.parametrize("head", ["factored", "joint"])
def test_released_models_have_no_constraints(head: str) -> None:
    model = DecoderModel.from_released(released_weights(), IDS, head=head)  # type: ignore[arg-type]
    language_model = LanguageModel(model)
    tree = DependencyTree(("a",), (0,))
    for refused in (
        lambda: language_model.begin(constrained=True),
        lambda: model.score_ids([[1]], (0,), constrained=True),
        lambda: model.score_batch(model.encode([tree], [[[1]]]), constrained=True),
        lambda: model(model.encode([tree], [[[1]]]), constrained=True),
    ):
        with pytest.raises(InputError, match="released models were trained without constraints"):
            refused()
    for constrained in (None, False):
        state = language_model.begin(constrained=constrained).step_ids([1])
        assert state.end().log_probability == pytest.approx(model.score_ids([[1]], (0,)), rel=1e-5)


@pytest.mark.parametrize("wrong", ["no", "True", 1, 0])
def test_constrained_is_true_or_false(wrong: Any) -> None:
    for family in ("dtg", "txl-tokens"):
        model = tiny(family)
        language_model = LanguageModel(model)
        for refused in (
            lambda: language_model.begin(constrained=wrong),  # noqa: B023 - used at once
            lambda: model.score_ids([[1]], (0,), constrained=wrong),  # noqa: B023
        ):
            with pytest.raises(InputError, match=f"constrained is {wrong!r}; True, False or None"):
                refused()


def test_options_are_checked() -> None:
    model = LanguageModel(tiny("dtg"))
    with pytest.raises(InputError, match="beam is 0; a whole number of at least 1 is expected"):
        model.begin(beam=0)
    with pytest.raises(InputError, match=r"word_beam is 2\.5; a whole number"):
        model.begin(word_beam=2.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'bem'"):
        model.begin(bem=3)  # type: ignore[call-arg]
    with pytest.raises(UnknownNameError, match="derivations called 'some'"):
        model.begin(derivations="some")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least one word"):
        model.begin().end()
    with pytest.raises(InputError, match="no tokenizer"):
        model.begin().step("word")
    with pytest.raises(InputError, match="piece 99 is not in the vocabulary, which has 12 pieces"):
        model.begin().step_ids([99])
    with pytest.raises(InputError, match="at least one piece"):
        model.begin().step_ids([])
    with pytest.raises(InputError, match="txl-tokens generates words without a tree"):
        LanguageModel(tiny("txl-tokens")).begin().step_ids([1]).end().trees()
