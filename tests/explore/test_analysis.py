"""What `model.analyse` says against the decoder itself, and against weights computed key by key from the formula."""

from __future__ import annotations

import math

import pytest
import torch

from dtg import DependencyTree
from dtg.analysis import Analysis, analyse, analyse_hypothesis
from dtg.errors import InputError
from dtg.families import FAMILIES, FamilyEntry, pack
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel
from dtg.model.attention import RelativeAttention
from dtg.model.decoder import Layer
from dtg.model.packed_keys import PackedKeys
from dtg.search.beam_search import BeamSearch
from dtg.search.options import BeamOptions
from dtg.search.state import BeamState
from dtg.transitions.arcs.arc_standard import ArcStandard
from dtg.trees.kinds import PartialDependencyTree
from tests.explore.conftest import GARDEN_PATH, small_model
from tests.families.two_views import CHANNEL, TwoViews
from tests.model.naive import sinusoid

WORDS = ("The", "barn", "fell", ".")
SETTINGS: tuple[tuple[str, dict[str, object]], ...] = (
    ("dtg", {}),
    ("dtg", {"norm": "pre", "shared_position_biases": False}),
    ("dtg-eager", {}),
    ("dtg-swift", {"arc_representation": "arc"}),
    ("txl-trans", {}),
    ("txl-tokens", {"head": "joint"}),
    ("tg", {}),
    ("plm-mask", {"head": "joint"}),
    ("pushdown", {}),
    ("dtg", {"embedding_scale": True, "position_biases": False}),
    ("two-views", {"view_heads": (3, 1)}),
    ("dtg-hybrid", {"memory_layers": "upper"}),
    ("tg-hybrid", {"memory": "rows", "head_gates": True}),
)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAMILIES, "two-views", FamilyEntry(TwoViews, ArcStandard))


def searched(model: DecoderModel, words: tuple[str, ...], beam: int = 8) -> BeamState:
    search = BeamSearch(model, BeamOptions(beam=beam))
    state = BeamState(search, search.begin())
    for word in words:
        state = state.step(word)
    return state


def naive_weights(model: DecoderModel, found: Analysis, layer: int) -> torch.Tensor:
    """(heads, rows, rows) from what a layer reads, one key at a time."""
    config, module = model.config, model.decoder.layers[layer]
    assert isinstance(module, Layer) and isinstance(module.attention, RelativeAttention)
    biases = module.biases if model.decoder.biases is None else model.decoder.biases
    nothing = torch.zeros(config.attention_heads, config.head_width)
    by_content, by_position = (nothing, nothing) if biases is None else (biases.content, biases.position)
    rows = found.hidden[layer]
    inputs = module.attention_norm(rows) if config.norm == "pre" else rows
    heads, size = config.attention_heads, config.head_width
    parts = module.attention.queries_keys_values(inputs).view(len(rows), 3, heads, size)
    weights = torch.zeros(heads, len(rows), len(rows), dtype=rows.dtype)
    for head, name in enumerate(found.head_views[layer]):
        for row in found.rows:
            view = next(view for view in row.views if view.name == name)
            scores = []
            for number, (key, relative) in enumerate(zip(view.attends, view.relative, strict=True)):
                query = parts[row.index, 0, head]
                place = (module.attention.positions.weight @ sinusoid(relative, config.width)).view(heads, size)[head]
                score = (query + by_content[head]) @ parts[key, 1, head] + (query + by_position[head]) @ place
                if view.channel is not None and module.attention.channel is not None:
                    score = score + (query + by_position[head]) @ module.attention.channel.weight[view.channel[number]]
                scores.append(score / math.sqrt(size))
            weights[head, row.index, list(view.attends)] = torch.stack(scores).softmax(0)
    return weights


@pytest.mark.parametrize(("family", "settings"), SETTINGS)
def test_weights_and_states_are_the_decoders_own(
    family: str, settings: dict[str, object], bundled: LanguageModel
) -> None:
    model = small_model(family, bundled, **settings)
    state = searched(model, WORDS)
    found = analyse_hypothesis(state, 0)
    assert float(found.log_probabilities.sum()) == pytest.approx(float(state._beams.score[0]), abs=1e-9)
    count, config = len(found.rows), model.config
    assert found.attention.shape == (config.layers, config.attention_heads, count, count)
    assert found.hidden.shape == (config.layers + 1, count, config.width)
    with torch.no_grad():
        for layer in range(config.layers):
            naive = naive_weights(model, found, layer)
            assert torch.allclose(found.attention[layer], naive, rtol=1e-9, atol=1e-12)
    assert torch.allclose(found.attention.sum(-1), torch.ones(1, dtype=torch.float64))
    for layer, names in enumerate(found.head_views):
        for head, name in enumerate(names):
            for row in found.rows:
                view = next(view for view in row.views if view.name == name)
                hidden_keys = sorted(set(range(count)) - set(view.attends))
                assert (found.attention[layer, head, row.index, hidden_keys] == 0).all()
    assert len(found.word_rows) == len(WORDS) - (family == "pushdown")
    if family == "dtg-hybrid":
        assert set(found.head_views[0]) == {"stack"} and set(found.head_views[-1]) == {"stack", "memory"}
    if family == "two-views":
        assert found.head_views[0] == ("stack", "stack", "stack", "all")
        assert {value for row in found.rows for value in row.views[1].channel or ()} == set(range(CHANNEL))


@pytest.mark.parametrize("family", ["dtg", "dtg-eager", "txl-trans"])
def test_a_tree_is_read_as_training_reads_it(family: str, bundled: LanguageModel) -> None:
    model = small_model(family, bundled)
    tree = DependencyTree(WORDS, (2, 3, 0, 3))
    found = analyse(model, tree, BeamOptions())
    assert model.tokenizer is not None
    batch = model.encode([tree], [[model.tokenizer.encode(word) for word in WORDS]])
    packed = pack(model.family, model.family.system.derive(batch), model.root)
    with torch.no_grad():
        output = model.decoder(*model.symbols.read_rows(packed), PackedKeys.of(packed, model.groups))
        scores = model(batch).log_probability
    assert torch.equal(found.output, output)
    assert torch.allclose(found.log_probabilities, scores)
    assert found.tree == tree and found.actions[-1] == "<END>"
    rows = model.family.rows(tree, [[model.tokenizer.piece(p) for p in model.tokenizer.encode(w)] for w in WORDS])
    assert [(row.reads, row.kind, row.predicts, row.attends) for row in rows] == [
        (row.reads, row.kind, row.predicts, row.views[0].attends) for row in found.rows
    ]


def test_words_actions_and_rows_are_aligned(bundled: LanguageModel) -> None:
    state = bundled.begin(50)
    for word in GARDEN_PATH[:7]:
        state = state.step(word)
    found = analyse_hypothesis(state, 0)
    assert isinstance(found.tree, PartialDependencyTree)
    assert found.tree.heads == (2, None, 2, 6, 6, 3, None)
    # The horse  ←  ra-ced: "raced" has two subwords, "barn" too.
    assert [len(pieces) for pieces in found.pieces] == [1, 1, 2, 1, 1, 2, 1]
    assert found.actions[:5] == ("GEN(▁The)", "GEN(▁horse)", "LEFTARC", "GEN(▁race)", "GEN(d)")
    assert found.action_words[:5] == (1, 2, 2, 3, 3)
    assert [found.rows[row].reads for row in found.word_rows] == [(pieces[-1],) for pieces in found.pieces]
    assert found.word_states().shape == (7, bundled.config.width)
    assert found.rows[0].action is None and found.rows[0].word == 0
    compose, second = [row for row in found.rows if row.action == 2]
    assert compose.predicts is None and second.predicts == "GEN(▁race)"
    assert found.rows[-1].predicts is None  # what comes next is not known
    assert float(found.log_probabilities.double().sum()) == pytest.approx(state.trees(1)[0].log_probability, abs=1e-4)


def test_a_sentence_is_analysed_with_its_best_tree(bundled: LanguageModel, words_only: LanguageModel) -> None:
    best = bundled.parse("The keys are here .".split(), beam=50)
    found = bundled.analyse("The keys are here.", beam=50)
    assert found.tree == best.tree
    assert float(found.log_probabilities.double().sum()) == pytest.approx(best.log_probability, abs=1e-4)
    alone = words_only.analyse("The keys are here.")
    assert alone.tree is None and all(name.startswith("GEN") for name in alone.actions[:-1])


def test_a_linear_probe_can_be_trained_on_what_comes_back(bundled: LanguageModel) -> None:
    found = bundled.analyse(list(GARDEN_PATH), beam=20)
    probe = torch.nn.Linear(bundled.config.width, 1)
    probe(found.word_states(3)).sum().backward()  # an inference tensor would raise here
    assert probe.weight.grad is not None
    assert not found.hidden.requires_grad


def test_a_hypothesis_that_is_not_there(bundled: LanguageModel) -> None:
    state = bundled.begin(5).step("The")
    with pytest.raises(InputError, match="there is no hypothesis 4; the beam has 1"):
        analyse_hypothesis(state, 4)
