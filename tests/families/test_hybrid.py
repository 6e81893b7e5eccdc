"""Hybrid families: rows against the twin, models against a computation head by head, in training, in the trie and in search."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from dtg import DependencyTree, families
from dtg.errors import ConfigError, UnknownNameError
from dtg.families import FAMILIES, FamilyEntry, PackedView, Row, pack
from dtg.families.hybrid import HybridFamily, hide_memory
from dtg.families.picture import draw_mask, panels_of
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.scoring.tree_scores import score_derivations
from dtg.search.beam_search import BeamSearch
from dtg.search.options import BeamOptions
from dtg.search.prefix_trie import search_all
from dtg.search.state import BeamState
from dtg.transitions.arcs.arc_eager import ArcEager
from dtg.transitions.arcs.arc_swift import ArcSwift
from dtg.transitions.batch import SentenceBatch
from dtg.trees.kinds import PartialDependencyTree
from tests.model.naive import naive_score
from tests.model.test_model import sentences, tiny
from tests.twins import every_projective_tree, hybrid_twin

MEMORIES = list(product(("words", "rows"), ("composed", "all")))
PIECES = [[1], [2, 9], [3], [4, 8]]
SYSTEMS: dict[str, Callable[..., tuple[Row, ...]]] = {
    "dtg-hybrid": hybrid_twin,
    "eager-hybrid": partial(hybrid_twin, eager=True),
    "swift-hybrid": partial(hybrid_twin, eager=True, swift=True),
}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is the same for other systems, which need no more than an entry."""
    monkeypatch.setitem(FAMILIES, "eager-hybrid", FamilyEntry(HybridFamily, ArcEager))
    monkeypatch.setitem(FAMILIES, "swift-hybrid", FamilyEntry(HybridFamily, ArcSwift))


def searched(model: DecoderModel, pieces: Sequence[Sequence[int]], **options: Any) -> BeamState:
    state = LanguageModel(model).begin(**options)
    for word in pieces:
        state = state.step_ids(word)
    return state


def test_the_rows_of_two_words() -> None:
    """`Dogs` is two subwords; golden, by hand: what is read, the stack with positions, the memory with positions.

    0 <ROOT>             0@0                  0@0
    1 Do                 0@1 1@0              0@1 1@0
    2 gs                 0@1 1@0 2@0          0@2 1@1 2@0
    3 bark               0@2 1@1 2@1 3@0      0@3 1@2 2@1 3@0
    4 LEFTARC + bark     1@-1 2@-1 3@0 4@0    what is composed
    5 LEFTARC2 + bark    0@1 4@0 5@0          0@4 1@3 2@2 3@1 5@0
    """
    rows = families.get("dtg-hybrid").rows(DependencyTree(("Dogs", "bark"), (2, 0)), [["Do", "gs"], ["bark"]])
    memory = [dict(zip(row.views[1].attends, row.views[1].relative, strict=True)) for row in rows[:6]]
    assert memory == [
        {0: 0},
        {0: 1, 1: 0},
        {0: 2, 1: 1, 2: 0},
        {0: 3, 1: 2, 2: 1, 3: 0},
        {1: -1, 2: -1, 3: 0, 4: 0},
        {0: 4, 1: 3, 2: 2, 3: 1, 5: 0},
    ]
    assert (rows[5].attends, rows[5].relative) == ((0, 4, 5), (1, 0, 0))


@pytest.mark.parametrize(("memory", "on_compose"), MEMORIES)
@pytest.mark.parametrize("name", SYSTEMS)
def test_rows_equal_the_twin(name: str, memory: str, on_compose: str) -> None:
    """Every tree of four words, one of them in two subwords, and one sentence with more words than positions."""
    family = families.get(name, memory=memory, memory_on_compose=on_compose)
    cases = [(heads, [["a"], ["b", "b2"], ["c"], ["d"]]) for heads in every_projective_tree(4)]
    cases.append(((0, *range(1, 80)), [[f"w{i}"] for i in range(80)]))
    for heads, split in cases:
        tree = DependencyTree(tuple("".join(word) for word in split), heads)
        expected = SYSTEMS[name](family.system.oracle(tree), split, "word+arc", memory, on_compose)
        assert family.rows(tree, split) == expected


@pytest.mark.parametrize(("memory", "on_compose"), MEMORIES)
@pytest.mark.parametrize(
    "settings",
    [
        {"attention_heads": 3, "view_heads": (2, 1), "head": "joint"},
        {"memory_layers": "lower", "layers": 3},
        {"memory_layers": "upper", "layers": 3, "head_gates": True, "norm": "pre"},
    ],
)
def test_models_equal_the_naive_model(memory: str, on_compose: str, settings: dict[str, Any]) -> None:
    model = tiny("dtg-hybrid", memory=memory, memory_on_compose=on_compose, **settings)
    some = sentences(4, seed=2)
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    for constrained in (False, True):
        expected = [naive_score(model, tree, pieces, constrained=constrained) for tree, pieces in some]
        assert model.score_batch(batch, constrained).tolist() == pytest.approx(expected, rel=1e-9)
        assert score_derivations(model, batch, constrained) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("memory", "on_compose"), MEMORIES)
@pytest.mark.parametrize("family", SYSTEMS)
def test_search_equals_brute_force(family: str, memory: str, on_compose: str) -> None:
    settings: dict[str, Any] = {"memory": memory, "memory_on_compose": on_compose, "memory_layers": "upper"}
    model = tiny(family, seed=3, **settings)
    every = {heads: model.score_ids(PIECES, heads, constrained=True) for heads in every_projective_tree(len(PIECES))}
    end = searched(model, PIECES, beam=10_000, word_beam=10_000).end()
    assert end.log_probability == pytest.approx(math.log(sum(map(math.exp, every.values()))), rel=1e-10)
    for scored in end.trees(5):
        assert isinstance(scored.tree, DependencyTree)
        assert scored.log_probability == pytest.approx(every[scored.tree.heads], rel=1e-10)


@pytest.mark.parametrize(("memory", "on_compose"), MEMORIES)
def test_narrow_beams_and_many_sentences_agree(memory: str, on_compose: str) -> None:
    """Compacting the cache after every word, and joining searches, change no number."""
    model = tiny("dtg-hybrid", memory=memory, memory_on_compose=on_compose)
    several = [[(1,), (2, 9), (3,), (5,)], [(1,), (2, 9), (4,)], [(6,), (7, 10)], [(1,), (2, 9), (3,), (5,), (2,)]]
    together = list(search_all(BeamSearch(model, BeamOptions(beam=6, word_beam=3)), several, at_once=3))
    for words, found in zip(several, together, strict=True):
        alone = searched(model, words, beam=6, word_beam=3)
        assert found.log_probability == pytest.approx(alone.end().log_probability, rel=1e-10)


@pytest.mark.parametrize("memory", ["words", "rows"])
def test_what_is_dropped_between_words_is_what_no_view_can_see(memory: str) -> None:
    model = tiny("dtg-hybrid", memory=memory)
    state, subwords = LanguageModel(model).begin(beam=8, word_beam=4), 0
    for word in [[1], [2], [3], [4, 9], [5]]:
        state, subwords = state.step_ids(word), subwords + len(word)
        lanes, visible = state._beams.lanes, set[int]()
        assert lanes.memory is not None
        for lane in range(len(lanes)):
            count = int(lanes.memory.size[lane])
            visible |= set(lanes.rows[lane, : int(lanes.size[lane])].tolist())
            visible |= set(lanes.memory.rows[lane, :count].tolist())
            partial_tree = state.trees(None)[lane]
            assert isinstance(partial_tree, PartialDependencyTree)
            arcs = sum(head is not None for head in partial_tree.heads)
            assert count == 1 + subwords + (2 * arcs if memory == "rows" else 0)
        assert state._beams.cache.used == len(visible)


def test_a_hybrid_whose_memory_is_hidden_is_its_parent() -> None:
    """With the same weights: no memory heads, or memory heads that see only what stack heads see."""
    some = sentences(6, seed=5)
    parent, hybrid = tiny("dtg"), tiny("dtg-hybrid", view_dropout=0.5)
    without = tiny("dtg-hybrid", view_heads=(2, 0))
    hybrid.load_state_dict(parent.state_dict())
    without.load_state_dict(parent.state_dict())
    batch = parent.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    expected = parent.score_batch(batch)
    assert torch.allclose(without.score_batch(batch), expected, rtol=1e-12)
    assert not torch.allclose(hybrid.score_batch(batch), expected, rtol=1e-6)
    assert torch.equal(hybrid.score_batch(batch), hybrid.eval().score_batch(batch))  # not in training, never dropped
    shown = hybrid.score_batch(batch)
    hybrid.train()
    torch.manual_seed(4)
    dropped = hybrid.score_batch(batch)
    torch.manual_seed(4)
    hidden = torch.rand(len(some)) < 0.5
    assert 0 < int(hidden.sum()) < len(some)
    assert torch.allclose(dropped, torch.where(hidden, expected, shown), rtol=1e-12)


def test_view_dropout_may_change_in_the_course_of_training(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny("dtg-hybrid", view_dropout=0.8, view_dropout_end=0.2).train()
    some = sentences(300, seed=6, longest=2)
    packed = pack(
        model.family,
        model.family.system.derive(model.encode([tree for tree, _ in some], [pieces for _, pieces in some])),
        model.root,
    )
    hidden: list[float] = []
    monkeypatch.setattr(
        "dtg.model.model.hide_memory", lambda packed, which: hidden.append(float(which.double().mean()))
    )
    for progress in (0.0, 0.5, 1.0):
        model.follow(progress)
        model.drop_views(packed)
    assert hidden == pytest.approx([0.8, 0.5, 0.2], abs=0.1)
    assert model.eval().drop_views(packed) is packed


@pytest.mark.parametrize("memory", ["words", "rows"])
def test_hiding_the_memory_sentence_by_sentence(memory: str) -> None:
    family = families.get("dtg-hybrid", memory=memory)
    some = sentences(5, seed=7)
    batch = SentenceBatch.of([tree for tree, _ in some], [pieces for _, pieces in some])
    packed = pack(family, family.system.derive(batch), root=0)
    found = hide_memory(packed, torch.tensor([True, False, False, True, False]))

    def listed(view: PackedView, row: int) -> list[tuple[int, int]]:
        count = int(view.keys[row])
        assert bool((view.attends[row, count:] == -1).all())
        return list(zip(view.attends[row, :count].tolist(), view.relative[row, :count].tolist(), strict=True))

    for sentence in range(5):
        for row in range(*packed.offsets[sentence : sentence + 2].tolist()):
            assert listed(found.views[0], row) == listed(packed.views[0], row)
            assert listed(found.views[1], row) == listed(packed.views[0 if sentence in (0, 3) else 1], row)


def test_gradients_reach_every_weight() -> None:
    model = tiny("dtg-hybrid", head_gates=True, view_dropout=0.5).train()
    some = sentences(4, seed=8)
    model.loss(model.encode([tree for tree, _ in some], [pieces for _, pieces in some])).total.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and bool((parameter.grad != 0).any()), name


def test_gates_are_open_in_new_models() -> None:
    sizes: dict[str, Any] = {"layers": 1, "width": 8, "attention_heads": 2, "head_width": 4, "feedforward": 10}
    gated = DecoderModel.create(ModelConfig(family="dtg-hybrid", vocabulary=12, head_gates=True, **sizes)).eval()
    plain = DecoderModel.create(ModelConfig(family="dtg-hybrid", vocabulary=12, **sizes)).eval()
    plain.load_state_dict({name: value for name, value in gated.state_dict().items() if "gates" not in name})
    assert gated.score_ids([[1], [2]], [2, 0]) == plain.score_ids([[1], [2]], [2, 0])


def test_a_saved_model_keeps_its_memory(tmp_path: Path) -> None:
    model = tiny("dtg-hybrid", memory="rows", memory_on_compose="all", memory_layers="upper", view_heads=(1, 1)).float()
    model.save(tmp_path)
    again = DecoderModel.load(tmp_path)
    assert again.config == model.config and isinstance(again.family, HybridFamily)
    assert (again.family.memory, again.family.memory_on_compose) == ("rows", "all")
    assert again.groups == model.groups and len(again.groups[0]) == 1 and len(again.groups[1]) == 2
    assert again.score_ids([[1], [2]], [2, 0]) == pytest.approx(model.score_ids([[1], [2]], [2, 0]), rel=1e-6)


def test_other_models_are_saved_as_before() -> None:
    for name in ("memory", "memory_on_compose", "memory_layers", "view_dropout", "view_dropout_end", "head_gates"):
        assert name not in ModelConfig().to_dict() and name not in ModelConfig(family="tg").to_dict()
    hybrid = ModelConfig(family="dtg-hybrid")
    assert hybrid.to_dict()["memory"] == "words" and hybrid.to_dict()["view_dropout_end"] is None
    assert ModelConfig.from_dict(hybrid.to_dict()) == hybrid


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"memory": "everything"}, "memory is 'everything'; known: words, rows"),
        ({"view_heads": (4, 1)}, r"view_heads is \(4, 1\); but dtg-hybrid has 2 views \(stack, memory\) and 4"),
        ({"attention_heads": 1}, "a hybrid needs at least 2 attention heads"),
        ({"memory_layers": "upper", "layers": 1}, "memory_layers is 'upper'; half of the layers needs at least 2"),
        ({"view_dropout": 1.0}, "view_dropout is 1.0; a number of at least 0 and below 1"),
        (
            {"family": "dtg", "memory": "rows"},
            "memory is 'rows'; but dtg has no memory heads. .*: dtg-hybrid, tg-hybrid",
        ),
        ({"family": "tg", "view_dropout": 0.1}, "view_dropout is 0.1; but tg has no memory heads"),
    ],
)
def test_settings_that_do_not_fit_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ModelConfig(**{"family": "dtg-hybrid", **settings})


def test_families_check_their_memory_too() -> None:
    with pytest.raises(UnknownNameError, match="memory"):
        families.get("dtg-hybrid", memory="word")


@pytest.mark.parametrize("representation", families.ARC_REPRESENTATIONS)
def test_another_representation_keeps_the_memory(representation: Any) -> None:
    family = families.get("dtg-hybrid", memory="rows", memory_on_compose="all")
    tree = DependencyTree(("a", "b", "c"), (2, 0, 2))
    expected = hybrid_twin(family.system.oracle(tree), [["a"], ["b"], ["c"]], representation, "rows", "all")
    assert family.rows(tree, arc_representation=representation) == expected


def test_pictures_have_a_panel_for_each_view(tmp_path: Path) -> None:
    rows = families.get("dtg-hybrid").rows(DependencyTree(("a", "b", "c"), (2, 0, 2)))
    assert [panel.title for panel in panels_of(rows)] == ["stack", "memory"]
    draw_mask(rows, tmp_path / "mask.svg")
    text = (tmp_path / "mask.svg").read_text("utf-8")
    assert "stack" in text and "memory" in text
