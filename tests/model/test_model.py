"""Models against the slow, naive computation; masks by influence; gradients by finite differences."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest
import torch

from dtg import DependencyTree, families
from dtg.errors import ConfigError, InputError, NonProjectiveError
from dtg.families import pack
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.model.attention import encode_positions
from dtg.model.model import make_family
from dtg.model.packed_keys import PackedKeys
from dtg.model.symbols import Symbols
from dtg.transitions.table import GENERATE
from tests.dependency import DEPENDENCY_FAMILIES
from tests.model.naive import naive_score
from tests.twins import random_projective_heads

TINY: dict[str, Any] = {
    "vocabulary": 12,
    "width": 8,
    "layers": 2,
    "attention_heads": 2,
    "head_width": 4,
    "feedforward": 10,
}
PROFILES: dict[str, dict[str, Any]] = {
    "post": {},
    "pre": {"norm": "pre", "activation": "gelu", "shared_position_biases": False},
    "untied": {"tied_arc_rows": False, "output_bias": False},
}


def tiny(family: str, *, seed: int = 0, words_start: bool = True, **settings: Any) -> DecoderModel:
    """A model in float64, with larger weights than a fresh one so that mistakes show."""
    model = DecoderModel.create(ModelConfig(family=family, **{**TINY, **settings}), seed=seed)
    if words_start:
        model.starts_word = torch.tensor([True] * 8 + [False] * 4)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed + 1)))
    return model.double().eval()


def sentences(count: int, seed: int, longest: int = 7) -> list[tuple[DependencyTree, list[list[int]]]]:
    """Trees whose words begin with a piece below 8 and go on with others."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        length = chance.randint(1, longest)
        heads = random_projective_heads(length, chance, chain=chance.random())
        pieces = [
            [chance.randrange(8), *(chance.randrange(8, 12) for _ in range(chance.choice([0, 0, 1, 2])))] for _ in heads
        ]
        found.append((DependencyTree(tuple(f"w{i}" for i in range(length)), heads), pieces))
    return found


@pytest.mark.parametrize("family", DEPENDENCY_FAMILIES)
@pytest.mark.parametrize("head", ["factored", "joint"])
@pytest.mark.parametrize("profile", PROFILES)
def test_equal_to_the_naive_model(family: str, head: str, profile: str) -> None:
    model = tiny(family, head=head, **PROFILES[profile])
    for tree, pieces in sentences(3, seed=1):
        for constrained in (False, True):
            expected = naive_score(model, tree, pieces, constrained=constrained)
            assert model.score_ids(pieces, tree.heads, constrained) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("representation", families.ARC_REPRESENTATIONS)
def test_arc_representations_equal_the_naive_model(representation: str) -> None:
    model = tiny("dtg", arc_representation=representation)
    for tree, pieces in sentences(3, seed=2):
        assert model.score_ids(pieces, tree.heads) == pytest.approx(naive_score(model, tree, pieces), rel=1e-9)


@pytest.mark.parametrize("family", DEPENDENCY_FAMILIES)
def test_together_and_one_at_a_time(family: str) -> None:
    """A batch of very different lengths, cut into several blocks, gives each sentence what it gets alone."""
    model = tiny(family, distance_limit=60)
    some = [*sentences(30, seed=3), *sentences(10, seed=4, longest=40)]
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    keys = PackedKeys.of(pack(model.family, model.family.system.derive(batch), model.root), model.groups)
    assert len(keys.blocks) > 1
    assert 0.0 <= keys.padding < 0.5
    together = model.score_batch(batch)
    alone = [model.score_ids(pieces, tree.heads, constrained=True) for tree, pieces in some]
    assert together.tolist() == pytest.approx(alone, rel=1e-10)


@pytest.mark.parametrize("family", ["dtg", "dtg-eager", "dtg-swift", "txl-trans"])
def test_rows_outside_the_mask_have_no_influence(family: str) -> None:
    """Change what one row reads: exactly the rows that can see it, directly or through others, change."""
    model = tiny(family)
    tree, pieces = sentences(1, seed=6, longest=7)[0]
    batch = model.encode([tree], [pieces])
    packed = pack(model.family, model.family.system.derive(batch), model.root)
    keys = PackedKeys.of(packed, model.groups)
    operation, piece = model.symbols.read_rows(packed)
    mask = packed.dense().mask[0]
    reach = mask.clone()
    for _ in range(model.config.layers - 1):  # who sees whom through so many layers
        reach = (reach.double() @ mask.double()) > 0
    with torch.no_grad():
        rows = model.decoder.embed(operation, piece)
        base = run_layers(model, rows, keys)
        for changed in range(len(packed)):
            other = rows.clone()
            other[changed] += 1.0
            differs = (run_layers(model, other, keys) - base).abs().amax(1) > 1e-12
            assert not bool((differs & ~reach[:, changed]).any())
            assert bool(differs[changed])


def run_layers(model: DecoderModel, rows: torch.Tensor, keys: PackedKeys) -> torch.Tensor:
    encoded = encode_positions(keys, rows, model.config.width)
    for number, layer in enumerate(model.decoder.layers):
        rows = layer(rows, keys.of_layer(number, last=False), model.decoder.biases, encoded)
    return rows


@pytest.mark.parametrize("family", DEPENDENCY_FAMILIES)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("head", ["factored", "joint"])
def test_gradients_by_finite_differences(family: str, profile: str, head: str) -> None:
    model = tiny(family, head=head, **PROFILES[profile])
    some = sentences(3, seed=7, longest=5)
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    model.loss(batch).total.backward()
    chance = random.Random(1)
    step = 1e-5
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        for _ in range(2):
            place = tuple(chance.randrange(size) for size in parameter.shape)
            with torch.no_grad():
                old = parameter[place].item()
                parameter[place] = old + step
                above = model.loss(batch).total.item()
                parameter[place] = old - step
                below = model.loss(batch).total.item()
                parameter[place] = old
            assert float(parameter.grad[place]) == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-6), name


@pytest.mark.slow
@pytest.mark.parametrize(("family", "head"), [*((name, "factored") for name in DEPENDENCY_FAMILIES), ("dtg", "joint")])
def test_a_model_overfits_ten_sentences(family: str, head: str) -> None:
    """With distinct first words, everything that follows can be learned by heart."""
    settings = TINY | {"vocabulary": 28, "width": 48, "head_width": 24, "feedforward": 96}
    model = DecoderModel.create(ModelConfig(family=family, head=head, **settings), seed=3)  # type: ignore[arg-type]
    some = [(tree, [[8 + i], *pieces[1:]]) for i, (tree, pieces) in enumerate(sentences(10, seed=8))]
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    optimizer = torch.optim.AdamW(model.parameter_groups(6e-3), weight_decay=0.0)
    for _ in range(120):
        optimizer.zero_grad()
        loss = model.loss(batch)
        (loss.total / loss.predicted).backward()
        optimizer.step()
    # Which of the ten it is cannot be known beforehand: log 10 a sentence is the least there can be.
    least = 10 * torch.log(torch.tensor(10.0)).item()
    assert float(loss.total.detach()) < least + 0.06 * loss.predicted


@pytest.mark.parametrize("family", DEPENDENCY_FAMILIES)
@pytest.mark.parametrize("head", ["factored", "joint"])
def test_constrained_probabilities_of_one_word_sentences_sum_to_one_with_their_continuations(
    family: str, head: str
) -> None:
    """p(<END>, or anything else) after every prefix: the log-probabilities of all legal actions sum to one."""
    model = tiny(family, head=head)
    tree, pieces = DependencyTree(("a",), (0,)), [[3]]
    batch = model.encode([tree], [pieces])
    actions = model.family.system.derive(batch)
    packed = pack(model.family, actions, model.root)
    rows = (packed.target >= 0).nonzero()[:, 0]
    allowed = model.allowed(packed.features.index_select(0, rows))
    # After <ROOT> only GEN, and only pieces that begin a word.
    assert bool(allowed.actions[0, GENERATE])
    assert int(allowed.actions[0].sum()) == 1
    assert allowed.must_start_word.tolist() == [True, False, *[True] * (len(rows) - 2)]


def test_unconstrained_is_what_score_ids_gives_by_default() -> None:
    model = tiny("dtg")
    (tree, pieces) = sentences(1, seed=9)[0]
    assert model.score_ids(pieces, tree.heads) == model.score_ids(pieces, tree.heads, constrained=False)
    assert model.score_ids(pieces, tree.heads) < model.score_ids(pieces, tree.heads, constrained=True)


def test_what_cannot_be_scored() -> None:
    model = tiny("dtg")
    with pytest.raises(NonProjectiveError, match="crossing arcs"):
        model.score_ids([[1], [2], [3], [4]], [3, 4, 0, 3])
    with pytest.raises(InputError, match="piece 99 is not in the vocabulary, which has 12 pieces"):
        model.score_ids([[99]], [0])
    with pytest.raises(InputError, match="no tokenizer"):
        LanguageModel(model).score([DependencyTree(("a",), (0,))])


def test_new_models_do_not_end_as_released_ones() -> None:
    with pytest.raises(ConfigError, match="only the authors' released models have; new models end by an arc"):
        DecoderModel.create(ModelConfig(**TINY, end="pop_root"))


def test_the_same_seed_makes_the_same_model() -> None:
    one, two, other = tiny("dtg", seed=1), tiny("dtg", seed=1), tiny("dtg", seed=2)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert not torch.equal(one.decoder.embedding.weight, other.decoder.embedding.weight)


def test_initial_weights_are_spread_as_released() -> None:
    config = ModelConfig(layers=4, width=256, vocabulary=1000)
    model = DecoderModel.create(config, seed=0)
    weights = {name: weight.detach() for name, weight in model.named_parameters()}
    inner = weights["decoder.layers.0.feedforward.inner.weight"]
    assert inner.std().item() == pytest.approx((2 / 4 / 256) ** 0.5, rel=0.02)
    assert inner.abs().max().item() < 2.3 * (2 / 4 / 256) ** 0.5
    assert weights["decoder.embedding.weight"].abs().max().item() == pytest.approx((3 / 256) ** 0.5, rel=0.01)
    assert weights["decoder.biases.content"].std().item() == pytest.approx(64**-0.5, rel=0.2)
    assert not weights["decoder.layers.0.feedforward.inner.bias"].any()


def test_embeddings_learn_twice_as_fast() -> None:
    groups = tiny("dtg").parameter_groups(0.5)
    assert (len(groups[0]["params"]), groups[0]["lr"], groups[0]["scale"]) == (1, 1.0, 2.0)
    assert groups[1]["lr"] == 0.5
    assert sum(len(group["params"]) for group in groups) == len(list(tiny("dtg").parameters()))


def test_the_papers_model_has_252_million_parameters() -> None:
    table = tomllib.loads((Path(__file__).parents[2] / "src" / "dtg" / "configs" / "paper.toml").read_text())
    config = ModelConfig.from_dict(table["model"])
    with torch.device("meta"):
        model = DecoderModel(config, Symbols.of(config, make_family(config)), root=1)
    assert config.vocabulary == 32_768
    assert round(sum(parameter.numel() for parameter in model.parameters()) / 1e6, 1) == 252.9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"family": "rnng"}, "family is 'rnng'; known: dtg"),
        ({"widht": 3}, "no setting widht. Known: family, vocabulary, layers, width"),
        ({"width": 7}, "it must be even"),
        ({"layers": 0}, "layers is 0; a whole number of at least 1"),
        ({"dropout": 1.5}, "dropout is 1.5"),
        ({"norm": "none"}, "norm is 'none'; known: pre, post"),
        ({"constrained": 1}, "constrained is 1; true or false"),
    ],
)
def test_configurations_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ModelConfig.from_dict(settings)
    assert ModelConfig.from_dict(ModelConfig().to_dict()) == ModelConfig()


@pytest.mark.parametrize("head", ["factored", "joint"])
def test_half_precision_gives_nearly_the_same_loss(head: str) -> None:
    model = tiny("dtg", head=head).float()
    some = sentences(5, seed=10)
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    with torch.autocast("cpu", torch.bfloat16):
        loss = model.loss(batch).total
    loss.backward()
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(model.loss(batch).total.item(), rel=0.05)
