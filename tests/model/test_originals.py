"""The originals' numbers from the originals' weights: TG and Pushdown in numpy against dtg's decoder, action by action."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.scoring.tree_scores import score_derivations
from tests.model.originals import (
    alternating_sinusoids,
    concatenated_sinusoids,
    pushdown_log_probabilities,
    pushdown_weights,
    reordered,
    tg_log_probabilities,
    tg_weights,
)
from tests.phrase_twins import FIVE_TREES, LABELS, attach_moves, split_of, tapes, tg_rows, top_down_moves

WIDTH, HEADS, SIZE, INNER, LAYERS = 12, 3, 4, 20, 2
WORDS = sorted({piece for tree in FIVE_TREES for word in split_of(tree) for piece in word})


class Random:
    """Random weights in the originals' shapes."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def __call__(self, *shape: int) -> Any:
        return self.generator.normal(0.0, 0.5, shape)

    def layer(self, **more: Any) -> dict[str, Any]:
        return {
            "query": self(HEADS * SIZE, WIDTH),
            "position": self(HEADS * SIZE, WIDTH),
            "output": self(WIDTH, HEADS * SIZE),
            "ffn_in": self(INNER, WIDTH),
            "ffn_in_bias": self(INNER),
            "ffn_out": self(WIDTH, INNER),
            "ffn_out_bias": self(WIDTH),
            "norm1": (1 + self(WIDTH), self(WIDTH)),
            "norm2": (1 + self(WIDTH), self(WIDTH)),
            **more,
        }


def loaded(config: ModelConfig, weights: dict[str, Any], root: int) -> DecoderModel:
    model = DecoderModel.create(config, root=root).double()
    model.load_state_dict({name: torch.as_tensor(value) for name, value in weights.items()}, strict=True)
    return model.eval()


SIZES: dict[str, Any] = {
    "layers": LAYERS,
    "width": WIDTH,
    "attention_heads": HEADS,
    "head_width": SIZE,
    "feedforward": INNER,
    "head": "joint",
    "constrained": False,
}


def predictions(model: DecoderModel, tree: Any, pieces: list[list[int]]) -> list[float]:
    """The log-probability of every action."""
    with torch.no_grad():
        found: list[float] = model(model.encode([tree], [pieces])).log_probability.tolist()
    return found


@pytest.mark.parametrize("number", range(5))
def test_transformer_grammars(number: int) -> None:
    """Every action but <END>, which the original does not have; its sentences are over when brackets balance."""
    random = Random(1)
    subwords = ["<s>", *WORDS]
    vocabulary = [*subwords, *(f"NT({label})" for label in LABELS), *(f"REDUCE({label})" for label in LABELS)]
    original = {
        "embedding": random(len(vocabulary), WIDTH),
        "bias": random(len(vocabulary)),
        "layers": [
            random.layer(
                key=random(HEADS * SIZE, WIDTH),
                value=random(HEADS * SIZE, WIDTH),
                u=random(HEADS, SIZE),
                v=random(HEADS, SIZE),
                output_bias=random(WIDTH),
            )
            for _ in range(LAYERS)
        ],
    }
    config = ModelConfig(
        family="tg",
        vocabulary=len(subwords),
        labels=LABELS,
        typed_closing=True,
        shared_position_biases=False,
        attention_output_bias=True,
        activation="gelu_tanh",
        **SIZES,
    )
    model = loaded(config, tg_weights(original), root=subwords.index("<s>"))
    tree = FIVE_TREES[number]
    split = split_of(tree)
    moves = top_down_moves(tree, split)
    rows = tg_rows(moves)
    reads = ["<s>" if row.reads[0] == "<ROOT>" else row.reads[0].replace("REDUCE2", "REDUCE") for row in rows]
    found = tg_log_probabilities(
        original,
        HEADS,
        [vocabulary.index(name) for name in reads],
        [row.attends for row in rows],
        [row.relative for row in rows],
    )
    predicting = [row.index for row in rows if row.predicts is not None]
    expected = [
        found[row][vocabulary.index(argument if operation == "GEN" else f"{operation}({argument})")]
        for row, (operation, argument) in zip(predicting, moves, strict=True)
        if operation != "END"
    ]
    pieces = [[subwords.index(piece) for piece in word] for word in split]
    assert predictions(model, tree, pieces)[:-1] == pytest.approx(expected, abs=1e-9)
    # Constrained, <END> is certain once brackets balance, whatever its bias; all else is more probable than in the original.
    with torch.no_grad():
        constrained = model(model.encode([tree], [pieces]), constrained=True).log_probability
    assert float(constrained[-1]) == 0.0
    assert bool((constrained[:-1] >= torch.tensor(expected) - 1e-12).all())


def pushdown(seed: int = 2) -> tuple[dict[str, Any], list[str], DecoderModel]:
    """Weights, tokens in the original's order, and the model. <eos> is a word; </s> and <s> come last."""
    random = Random(seed)
    tokens = [*WORDS[:5], "<eos>", *WORDS[5:], "</s>", "<s>"]
    deep, inner = WIDTH // HEADS, 2 * WIDTH

    def network(name: str, inputs: int, hidden: int) -> dict[str, Any]:
        return {
            f"{name}_in": random(hidden, inputs),
            f"{name}_in_bias": random(hidden),
            f"{name}_out": random(inner, hidden),
            f"{name}_out_bias": random(inner),
        }

    original = {
        "embedding": random(len(tokens), WIDTH),
        "bias": random(len(tokens)),
        "layers": [
            random.layer(data_to_kv=random(2 * HEADS * SIZE, WIDTH), depth=random(50, SIZE)) for _ in range(LAYERS)
        ],
        "attachment": {
            "query": random(inner, WIDTH),
            "query_bias": random(inner),
            "key": random(inner, WIDTH),
            "key_bias": random(inner),
            "position": random(inner, WIDTH),
            "depth": random(50, deep),
            **network("mlp_query", inner + WIDTH, inner),
            **network("mlp_key", inner + WIDTH, inner),
            **network("mlp_composer", inner + deep, inner + deep),
        },
    }
    eos = tokens.index("<eos>")
    config = ModelConfig(
        family="pushdown", vocabulary=len(tokens) - 1, embedding_scale=True, position_biases=False, **SIZES
    )
    ours = [token for token in tokens if token != "<eos>"]
    model = loaded(config, pushdown_weights(original, HEADS, eos), root=ours.index("<s>"))
    return original, tokens, model


@pytest.mark.parametrize("number", range(5))
def test_pushdown_layers(number: int) -> None:
    """Tokens and attachments up to p(<eos>), which is our <END>; without </s>, and without the attachment of <eos> to <s>."""
    original, tokens, model = pushdown()
    tree = FIVE_TREES[number].binarize()
    split = split_of(tree)
    moves = attach_moves(tree, split)
    names = ["<s>", *(argument for operation, argument in moves if operation == "GEN")]
    ks = [k for operation, k in moves if operation == "ATTACH"]
    words, attached = pushdown_log_probabilities(original, HEADS, [tokens.index(name) for name in names], tapes(ks))
    expected: list[float] = []
    stack: list[int] = []
    for r, (name, k) in enumerate(zip(names[1:], ks, strict=True)):
        target = stack[-k] if k else r + 1  # the last token of the lowest constituent that is merged, or itself
        del stack[len(stack) - k :]
        stack.append(r + 1)
        expected += [words[r][tokens.index(name)], attached[r][target]]
    expected.append(words[-1][tokens.index("<eos>")])
    ours = [token for token in tokens if token != "<eos>"]
    pieces = [[ours.index(piece) for piece in word] for word in split]
    assert predictions(model, tree, pieces) == pytest.approx(expected, abs=1e-9)
    batch = model.encode([tree], [pieces])
    assert score_derivations(model, batch, constrained=False) == pytest.approx([sum(expected)], abs=1e-9)


def test_labels_of_the_worked_example() -> None:
    """Where tokens are attached, as the authors write it: the last token of the lowest constituent, or the token itself."""
    ks = [
        k for operation, k in attach_moves(FIVE_TREES[1].binarize(), split_of(FIVE_TREES[1])) if operation == "ATTACH"
    ]
    stack, labels = list[int](), [0]
    for token, k in enumerate(ks, start=1):
        labels.append(stack[-k] if k else token)
        del stack[len(stack) - k :]
        stack.append(token)
    assert ks == [0, 1, 0, 2, 0, 2]
    assert labels == [0, 1, 1, 3, 2, 5, 4]


def test_search_finds_as_many_derivations_as_the_original() -> None:
    """Six words: 132 hypotheses, 42 trees. The constraints are applied after the softmax, as in the original."""
    _, tokens, model = pushdown()
    ours = [token for token in tokens if token != "<eos>"]
    pieces = [[ours.index(word)] for word in FIVE_TREES[1].words]
    counts = []
    for derivations in ("all", "canonical"):
        state = LanguageModel(model).begin(10_000, word_beam=10_000, derivations=derivations)
        for word in pieces:
            state = state.step_ids(word)
        counts.append(len(state.end().trees(None)))
    assert counts == [132, 42]


def test_positions_are_reordered() -> None:
    weight = np.random.default_rng(0).normal(size=(5, 12))
    for distance in range(-3, 70):
        theirs = weight @ alternating_sinusoids(-distance, 12)
        assert reordered(weight) @ concatenated_sinusoids(distance, 12) == pytest.approx(theirs, abs=1e-12)
