"""Two views in one layer against a computation row by row and head by head: in training, in the trie and in search."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch

from dtg import DependencyTree, families
from dtg.errors import ConfigError
from dtg.families import FAMILIES, FamilyEntry, pack
from dtg.families.stack import StackFamily
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.model.attention import HeadGroup, head_groups
from dtg.model.decoder import Layer
from dtg.scoring.tree_scores import score_derivations
from dtg.search.beam_search import BeamSearch
from dtg.search.options import BeamOptions
from dtg.search.prefix_trie import search_all
from dtg.search.state import BeamState
from dtg.transitions.arcs.arc_eager import ArcEager
from dtg.transitions.arcs.arc_standard import ArcStandard
from dtg.transitions.arcs.arc_swift import ArcSwift
from dtg.transitions.arcs.shared import DependencySystem
from dtg.transitions.batch import SentenceBatch
from dtg.trees.kinds import PartialDependencyTree
from tests.families.two_views import CHANNEL, TwoViews
from tests.model.naive import naive_prediction, norm, sinusoid, token_of
from tests.twins import TWINS, every_projective_tree

SYSTEMS: dict[str, type[DependencySystem]] = {
    "two-views": ArcStandard,
    "two-views-eager": ArcEager,
    "two-views-swift": ArcSwift,
}
SIZES: dict[str, Any] = {"vocabulary": 12, "width": 8, "layers": 2, "head_width": 4, "feedforward": 10}
PIECES = [[1], [2, 9], [3], [4, 8]]


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One entry in the registry is all it takes."""
    for name, system in SYSTEMS.items():
        monkeypatch.setitem(FAMILIES, name, FamilyEntry(TwoViews, system))
        monkeypatch.setitem(TWINS, name, TWINS[name.replace("two-views", "dtg")])
    yield


def made(family: str, view_heads: tuple[int, ...] = (2, 1), seed: int = 0, **settings: Any) -> DecoderModel:
    """A random model in float64, with larger weights than a fresh one so that mistakes show."""
    heads = {"attention_heads": sum(view_heads), "view_heads": view_heads}
    model = DecoderModel.create(ModelConfig(family=family, **{**SIZES, **heads, **settings}), seed=seed)
    model.starts_word = torch.tensor([True] * 8 + [False] * 4)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed + 1)))
    return model.double().eval()


@torch.no_grad()
def naive_score(model: DecoderModel, heads: Sequence[int], pieces: Sequence[Sequence[int]]) -> float:
    """log p(x, y) without constraints: the twin's rows for the stack, all earlier rows for the other view."""
    tree = DependencyTree(tuple(f"w{i}" for i in range(len(pieces))), tuple(heads))
    names = [[str(piece) for piece in word] for word in pieces]
    oracle = model.family.system.oracle(tree)
    rows = TWINS[model.config.family](oracle, names, model.config.arc_representation)
    config, decoder = model.config, model.decoder
    size, in_stack = config.head_width, model.config.view_heads[0]
    empty = torch.zeros(config.width, dtype=torch.float64)
    vectors = [sum((decoder.embedding.weight[token_of(model, name)] for name in row.reads), empty) for row in rows]
    for layer in decoder.layers:
        assert isinstance(layer, Layer) and layer.attention.channel is not None and decoder.biases is not None
        parts = [(layer.attention.queries_keys_values.weight @ x).view(3, -1, size) for x in vectors]
        after = []
        for row, x in zip(rows, vectors, strict=True):
            mixed = []
            for head in range(config.attention_heads):
                seen = list(zip(row.attends, row.relative, strict=True))
                if head >= in_stack:
                    seen = [(key, row.index - key) for key in range(row.index + 1)]
                query, scores = parts[row.index][0, head], []
                for key, relative in seen:
                    place = (layer.attention.positions.weight @ sinusoid(relative, config.width)).view(-1, size)[head]
                    by_position = query + decoder.biases.position[head]
                    score = (query + decoder.biases.content[head]) @ parts[key][1, head] + by_position @ place
                    if head >= in_stack:
                        score = score + by_position @ layer.attention.channel.weight[key % CHANNEL]
                    scores.append(score / math.sqrt(size))
                values = torch.stack([parts[key][2, head] for key, _ in seen])
                mixed.append(torch.stack(scores).softmax(0) @ values)
            y = norm(layer.attention_norm, x + layer.attention.output.weight @ torch.cat(mixed))
            inner = (layer.feedforward.inner.weight @ y + layer.feedforward.inner.bias).relu()
            out = layer.feedforward.outer.weight @ inner + layer.feedforward.outer.bias
            after.append(norm(layer.feedforward_norm, y + out))
        vectors = after
    predicted = [(vectors[row.index], row.predicts) for row in rows if row.predicts is not None]
    return float(sum(naive_prediction(model, hidden, predicts, None, False) for hidden, predicts in predicted))


def searched(model: DecoderModel, pieces: Sequence[Sequence[int]], **options: Any) -> list[BeamState]:
    """The states after 0, 1, 2, ... words."""
    found = [LanguageModel(model).begin(**options)]
    for word in pieces:
        found.append(found[-1].step_ids(word))
    return found


@pytest.mark.parametrize("family", SYSTEMS)
@pytest.mark.parametrize("view_heads", [(2, 1), (1, 3)])
def test_training_and_trie_equal_the_naive_model(family: str, view_heads: tuple[int, int]) -> None:
    model = made(family, view_heads)
    every = list(every_projective_tree(len(PIECES)))[::4]
    expected = [naive_score(model, heads, PIECES) for heads in every]
    assert [model.score_ids(PIECES, heads) for heads in every] == pytest.approx(expected, rel=1e-10)
    words = tuple("abcd")
    batch = model.encode([DependencyTree(words, heads) for heads in every], [PIECES] * len(every))
    assert score_derivations(model, batch, constrained=False) == pytest.approx(expected, rel=1e-10)
    assert model.score_batch(batch, constrained=False).tolist() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("family", SYSTEMS)
def test_search_equals_brute_force(family: str) -> None:
    model = made(family, seed=3)
    total = sum(math.exp(naive_score(model, heads, PIECES)) for heads in every_projective_tree(len(PIECES)))
    end = searched(model, PIECES, beam=10_000, word_beam=10_000, constrained=False)[-1].end()
    assert end.log_probability == pytest.approx(math.log(total), rel=1e-10)
    for scored in end.trees(3):
        assert isinstance(scored.tree, DependencyTree)
        assert scored.log_probability == pytest.approx(naive_score(model, scored.tree.heads, PIECES), rel=1e-10)


def test_narrow_beams_and_many_sentences_agree() -> None:
    """Compacting the cache after every word, and joining searches, change no number."""
    model = made("two-views")
    sentences = [[(1,), (2, 9), (3,), (5,)], [(1,), (2, 9), (4,)], [(6,), (7, 10)], [(1,), (2, 9), (3,), (5,), (2,)]]
    together = list(search_all(BeamSearch(model, BeamOptions(beam=6, word_beam=3)), sentences, at_once=3))
    for words, found in zip(sentences, together, strict=True):
        states = searched(model, words, beam=6, word_beam=3)
        assert [one[1] for one in found.words] == pytest.approx([state.surprisal for state in states[1:]], rel=1e-10)
        assert found.log_probability == pytest.approx(states[-1].end().log_probability, rel=1e-10)


@pytest.mark.parametrize("family", ["two-views", "dtg"])
def test_what_is_dropped_between_words_is_what_no_view_can_see(family: str) -> None:
    """After every word the cache holds the rows of the hypotheses' stacks, and for the second view all of their rows."""
    model = made(family) if family in SYSTEMS else made("dtg", view_heads=(3,))
    state, subwords = LanguageModel(model).begin(beam=8, word_beam=4), 0
    for word in [[1], [2], [3], [4, 9], [5]]:
        state, subwords = state.step_ids(word), subwords + len(word)
        lanes = state._beams.lanes
        visible = set()
        for lane in range(len(lanes)):
            visible |= set(lanes.rows[lane, : int(lanes.size[lane])].tolist())
            if lanes.memory is not None:
                count = int(lanes.memory.size[lane])
                visible |= set(lanes.memory.rows[lane, :count].tolist())
                # Two rows for each arc, one for each subword, and <ROOT>: nothing of this hypothesis is missing.
                partial = state.trees(None)[lane]
                assert isinstance(partial, PartialDependencyTree)
                arcs = sum(head is not None for head in partial.heads)
                assert count == 1 + subwords + 2 * arcs
        assert state._beams.cache.used == len(visible)


@pytest.mark.parametrize("family", SYSTEMS)
def test_folding_equals_stepping(family: str) -> None:
    """Rows as people see them come from the pack; here each view of every row, against the twin and against counting."""
    family_ = families.get(family)
    for heads in every_projective_tree(4):
        tree = DependencyTree(("a", "b", "c", "d"), heads)
        twin = TWINS[family](family_.system.oracle(tree), [[word] for word in tree.words], "word+arc")
        for row, expected in zip(family_.rows(tree), twin, strict=True):
            assert (row.attends, row.relative) == (expected.attends, expected.relative)
            stack, everything = row.views
            assert (stack.name, stack.attends, stack.channel) == ("stack", row.attends, None)
            assert everything.attends == tuple(range(row.index + 1))
            assert everything.relative == tuple(range(row.index, -1, -1))
            assert everything.channel == tuple(key % CHANNEL for key in range(row.index + 1))


def test_dense_masks_by_view() -> None:
    family = families.get("two-views")
    batch = SentenceBatch.of([DependencyTree(("a", "b", "c"), (2, 0, 2))], [[[1], [2], [3]]])
    packed = pack(family, family.system.derive(batch), root=0)
    stack, everything = packed.dense(0).mask[0], packed.dense(1).mask[0]
    assert torch.equal(everything, torch.ones_like(everything).tril())
    assert bool((stack <= everything).all()) and int(stack.sum()) < int(everything.sum())


def test_gradients_reach_every_weight() -> None:
    model = made("two-views").train()
    batch = model.encode([DependencyTree(("a", "b", "c"), (2, 0, 2))], [[[1], [2, 9], [3]]])
    model.loss(batch).total.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and bool((parameter.grad != 0).any()), name


def test_one_view_is_one_group_of_all_heads() -> None:
    config = ModelConfig(family="dtg")
    assert head_groups(config, StackFamily) == ((HeadGroup(0, 0, 4),),) * 6
    assert StackFamily.views == ("stack",)
    two = ModelConfig(family="two-views", view_heads=(3, 1))
    assert head_groups(two, TwoViews)[0] == (HeadGroup(0, 0, 3), HeadGroup(1, 3, 4))
    assert ModelConfig.from_dict({**two.to_dict(), "view_heads": [3, 1]}) == two  # as JSON has it


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"family": "two-views"}, r"view_heads is missing: there are 2 views \(stack, all\) and 4 attention heads"),
        ({"family": "two-views", "view_heads": (4, 1)}, r"view_heads is \(4, 1\); but two-views has 2 views"),
        ({"family": "two-views", "view_heads": (4, -1)}, "a whole number of at least 0"),
        ({"family": "dtg", "view_heads": (2, 2)}, r"but dtg has 1 views"),
    ],
)
def test_heads_that_do_not_fit_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ModelConfig(**settings)


def test_a_saved_model_keeps_its_views(tmp_path: Any) -> None:
    model = made("two-views").float()
    model.save(tmp_path)
    again = DecoderModel.load(tmp_path)
    assert again.config == model.config
    assert again.score_ids([[1], [2]], [2, 0]) == pytest.approx(model.score_ids([[1], [2]], [2, 0]), rel=1e-6)
