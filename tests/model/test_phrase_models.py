"""Phrase-structure models against the slow, naive computation; gradients by finite differences."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from dtg.errors import ConfigError, InputError
from dtg.families import pack
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.model.attention import encode_positions
from dtg.model.packed_keys import PackedKeys
from dtg.scoring.tree_scores import score_derivations
from tests.model.naive_phrases import naive_score
from tests.phrase_twins import FIVE_TREES, PHRASE_FAMILIES, of_family, random_binary, random_phrases

LABELS = ("A", "B", "C")
TINY: dict[str, Any] = {"vocabulary": 12, "width": 8, "layers": 2, "head_width": 4, "feedforward": 10}
ORIGINAL_TG: dict[str, Any] = {
    "shared_position_biases": False,
    "attention_output_bias": True,
    "activation": "gelu_tanh",
    "constrained": False,
}
PROFILES: dict[str, dict[str, dict[str, Any]]] = {
    "tg": {
        "ours": {},
        "original": ORIGINAL_TG,
        "pre, untyped": {"norm": "pre", "typed_closing": False},
        "untied": {"tied_arc_rows": False},
    },
    "plm": {"ours": {}, "typed": {"typed_closing": True, "norm": "pre", "activation": "gelu", "output_bias": False}},
    "plm-mask": {"ours": {}, "four see phrases": {"view_heads": (1, 2, 1), "attention_output_bias": True}},
    "tg-hybrid": {
        "ours": {},
        "rows": {"memory": "rows", "memory_on_compose": "all", "memory_layers": "upper"},
        "words": {"memory_on_compose": "all", "memory_layers": "lower", "norm": "pre"},
    },
    "pushdown": {
        "ours": {},
        "additive": {"attachment": "additive", "norm": "pre"},
        "original": {"position_biases": False, "embedding_scale": True},
        "plain": {
            "attachment": "plain",
            "embedding_scale": True,
            "activation": "gelu_tanh",
            "shared_position_biases": False,
        },
    },
}
CASES = [(family, profile) for family, some in PROFILES.items() for profile in some]


def tiny(family: str, profile: str = "ours", *, seed: int = 0, **settings: Any) -> DecoderModel:
    """A model in float64, with larger weights than a fresh one so that mistakes show."""
    own: dict[str, Any] = {"attention_heads": 4 if family == "plm-mask" else 2}
    if family != "pushdown":
        own |= {"labels": LABELS, "max_chain": 4, "max_open": 9}
    config = ModelConfig(family=family, **{**TINY, **own, **PROFILES[family][profile], **settings})
    model = DecoderModel.create(config, seed=seed)
    model.starts_word = torch.tensor([True] * 8 + [False] * 4)
    generator = torch.Generator().manual_seed(seed + 1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    return model.double().eval()


def random_pieces(words: int, chance: random.Random) -> list[list[int]]:
    """Words that begin with a subword below 8 and may go on with others."""
    return [
        [chance.randrange(8), *(chance.randrange(8, 12) for _ in range(chance.choice([0, 0, 0, 1, 2])))]
        for _ in range(words)
    ]


def sentences(model: DecoderModel, count: int, seed: int, longest: int = 6) -> list[tuple[Any, list[list[int]]]]:
    """Trees of the model's kind, within its limits."""
    chance = random.Random(seed)
    found: list[tuple[Any, list[list[int]]]] = []
    while len(found) < count:
        length = chance.randint(1, longest)
        pushdown = model.config.family == "pushdown"
        tree: Any = random_binary(length, chance) if pushdown else random_phrases(length, chance, LABELS)
        if model.family.system.reaches(tree):
            found.append((tree, random_pieces(length, chance)))
    return found


@pytest.mark.parametrize(("family", "profile"), CASES)
@pytest.mark.parametrize("head", ["factored", "joint"])
def test_equal_to_the_naive_model(family: str, profile: str, head: str) -> None:
    model = tiny(family, profile, head=head)
    some = sentences(model, 4, seed=1)
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    for constrained in (False, True):
        expected = [naive_score(model, tree, pieces, constrained=constrained) for tree, pieces in some]
        assert model.score_batch(batch, constrained).tolist() == pytest.approx(expected, rel=1e-9)
        assert score_derivations(model, batch, constrained) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_the_five_trees(family: str) -> None:
    """With every label of theirs; tele|scope is two subwords."""
    labels: dict[str, Any] = {} if family == "pushdown" else {"labels": ("ADJP", "NP", "PP", "S", "SBAR", "VP", "WHNP")}
    model = tiny(family, seed=4, **labels)
    for tree in FIVE_TREES[1:4]:
        pieces = [
            [1 + number % 7, 9] if word == "telescope" else [number % 8] for number, word in enumerate(tree.words)
        ]
        as_read = of_family(family, tree)
        found = float(model.score_batch(model.encode([as_read], [pieces]))[0])
        assert found == pytest.approx(naive_score(model, as_read, pieces, constrained=True), rel=1e-9)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_together_and_one_at_a_time(family: str) -> None:
    """A batch of very different lengths, cut into several blocks, gives each sentence what it gets alone."""
    model = tiny(family, max_open=90, max_chain=60)
    some = [*sentences(model, 25, seed=3), *sentences(model, 6, seed=4, longest=40)]
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    together = model.score_batch(batch)
    alone = [float(model.score_batch(model.encode([tree], [pieces]))[0]) for tree, pieces in some]
    assert together.tolist() == pytest.approx(alone, rel=1e-10)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_rows_outside_the_mask_have_no_influence(family: str) -> None:
    """Change what one row reads: no row changes but those that can see it through some view, directly or through others."""
    model = tiny(family)
    ((tree, pieces),) = sentences(model, 1, seed=6, longest=7)
    packed = pack(model.family, model.family.system.derive(model.encode([tree], [pieces])), model.root)
    keys = PackedKeys.of(packed, model.groups)
    mask = torch.stack([packed.dense(view).mask[0] for view in range(len(packed.views))]).any(0)
    mask = mask | torch.eye(len(packed), dtype=torch.bool)
    reach = (mask.double() @ mask.double()) > 0
    with torch.no_grad():
        rows = model.decoder.embed(*model.symbols.read_rows(packed))
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


@pytest.mark.parametrize(("family", "profile"), CASES)
def test_gradients_by_finite_differences(family: str, profile: str) -> None:
    model = tiny(family, profile, head="joint" if profile == "original" else "factored")
    some = sentences(model, 3, seed=7, longest=4)
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    model.loss(batch).total.backward()
    chance, step = random.Random(1), 1e-5
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        for _ in range(1 if parameter.dim() == 1 else 2):
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
@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_a_model_overfits_ten_sentences(family: str) -> None:
    """With distinct first words, everything that follows can be learned by heart."""
    labels: dict[str, Any] = {} if family == "pushdown" else {"labels": LABELS}
    sizes: dict[str, Any] = {"vocabulary": 28, "width": 48, "layers": 2, "head_width": 12, "feedforward": 96}
    model = DecoderModel.create(ModelConfig(family=family, attention_heads=4, **sizes, **labels), seed=3)
    some = [(tree, [[8 + i], *pieces[1:]]) for i, (tree, pieces) in enumerate(sentences(tiny(family), 10, seed=8))]
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    optimizer = torch.optim.AdamW(model.parameter_groups(6e-3), weight_decay=0.0)
    for _ in range(120):
        optimizer.zero_grad()
        loss = model.loss(batch)
        (loss.total / loss.predicted).backward()
        optimizer.step()
    # Which of the ten it is cannot be known beforehand, nor what is opened before the first word.
    least = 10 * torch.log(torch.tensor(10.0)).item()
    assert float(loss.total.detach()) < least + 0.06 * loss.predicted


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_half_precision_gives_nearly_the_same_loss(family: str) -> None:
    model = tiny(family).float()
    some = sentences(model, 5, seed=10)
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    with torch.autocast("cpu", torch.bfloat16):
        loss = model.loss(batch).total
    loss.backward()
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(model.loss(batch).total.item(), rel=0.05)


def test_what_cannot_be_scored() -> None:
    model = tiny("tg")
    with pytest.raises(InputError, match="top-down derives phrase-structure trees; this is a DependencyTree"):
        model.score_ids([[1]], [0])
    with pytest.raises(
        InputError, match=r"has phrases labelled NP, S, VP, which the model does not know. Known: A, B, C"
    ):
        model.encode([FIVE_TREES[2]], [[[1], [2]]])
    with pytest.raises(InputError, match=r"this is a ConstituencyTree. ConstituencyTree.binarize makes them"):
        tiny("pushdown").encode([FIVE_TREES[2]], [[[1], [2]]])
    with pytest.raises(InputError, match="no tokenizer"):
        LanguageModel(model).score([FIVE_TREES[2]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"family": "plm-mask", "attention_heads": 2}, "plm-mask needs at least 3 attention heads"),
        ({"family": "plm-mask", "attention_heads": 4, "view_heads": (1, 1, 1)}, r"view_heads is \(1, 1, 1\)"),
        ({"family": "pushdown", "attachment": "none"}, "attachment is 'none'; known: network, additive, plain"),
        ({"family": "tg", "max_open": 0}, "max_open is 0; a whole number of at least 1"),
        ({"family": "tg", "activation": "gelu_fast"}, "known: relu, gelu, gelu_tanh"),
    ],
)
def test_configurations_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ModelConfig.from_dict(settings)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_configurations_as_tables(family: str) -> None:
    config = tiny(family).config
    assert ModelConfig.from_dict(config.to_dict()) == config
