"""Every call of dtg that the reference numbers need: when a name moves, this is the one file to edit.

What comes back is plain data (numbers, strings, lists, dicts), so that it can be written as JSON.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

import dtg
from dtg import DependencyTree, families
from dtg.errors import TooFarError
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.parser import BiaffineParser, ParserConfig
from dtg.parser.data import ParserCorpus, ParserSplit
from dtg.scoring.proposal import Drawn, Draws
from dtg.text import Tokenizer
from dtg.trees.enumeration import enumerate_projective

HERE = Path(__file__).parent
Json = Any
Model = LanguageModel
Parser = BiaffineParser
Tree = DependencyTree
Words = Sequence[str]
M = TypeVar("M", bound=nn.Module)

SIZES: dict[str, Any] = {"layers": 2, "width": 8, "attention_heads": 2, "head_width": 4, "feedforward": 10}
COLUMNS = ("surprisals", "lexical", "structural", "entropies", "entropy_reductions", "stack_depths", "kept")
MARGINAL = (
    "log_probability", "kind", "how", "trees", "lower_bound", "constrained", "derivations", "draws", "out_of_reach",
    "distance_limit", "effective_sample_size", "standard_error",
)  # fmt: skip


# Models and parsers


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.load(HERE / "tokenizer.model")


def train_tokenizer(words: Words, size: int) -> None:
    Tokenizer.train(words, size).save(HERE / "tokenizer.model")


def fresh_model(family: str, **settings: Any) -> Model:
    """As training begins with it."""
    config = ModelConfig(family=family, vocabulary=tokenizer().size, **SIZES, **settings)
    return LanguageModel(DecoderModel.create(config, tokenizer(), seed=5))


def random_model(family: str, **settings: Any) -> Model:
    """In float64, with weights so large that trees and words differ."""
    model = fresh_model(family, **settings)
    randomise(model.decoder_model)
    return model


def released_model(family: str, head: Any, shapes: dict[str, tuple[int, ...]], ids: dict[str, int]) -> Model:
    weights = {
        name: torch.full(shape, 1.0 if name.endswith("norm.weight") else 0.0, dtype=torch.float32)
        for name, shape in shapes.items()
    }
    return LanguageModel(randomise(DecoderModel.from_released(weights, ids, family=family, head=head)))


def load_model(folder: str | Path, dtype: torch.dtype = torch.float32) -> Model:
    model = dtg.load(folder)
    model.decoder_model.to(dtype)
    return model


def load_parser(folder: str | Path, dtype: torch.dtype = torch.float32) -> Parser:
    parser = dtg.load_parser(folder)
    assert isinstance(parser, Parser)
    return parser.to(dtype)


def make_parser(trees: Sequence[Tree], **settings: Any) -> Parser:
    config = ParserConfig(**settings)
    parser = BiaffineParser.create(config, ParserCorpus({"train": trees}, config).tokenizer)
    return randomise(parser)


def save(trained: Model | Parser, folder: Path) -> None:
    """In single precision, as training does."""
    module = trained.decoder_model if isinstance(trained, LanguageModel) else trained
    module.float().save(folder)


def family_names() -> set[str]:
    return set(families.FAMILIES)


def randomise(module: M) -> M:
    """Numbers for the weights that follow from their names, by Python's generator: the same on every machine.

    Weights that are all ones stay near them: they are normalisations.
    """
    module.double().eval()
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            base = 1.0 if bool((parameter == 1).all()) else 0.0
            chance = random.Random(name)
            values = [base + 0.5 * chance.gauss() for _ in range(parameter.numel())]
            parameter.copy_(torch.tensor(values, dtype=torch.float64).view_as(parameter))
    return module


# Trees and proposals


def tree_of(words: Words, heads: Sequence[int], labels: Sequence[str] | None = None) -> Tree:
    return DependencyTree(tuple(words), tuple(heads), None if labels is None else tuple(labels))


def every_tree(words: Words) -> list[Tree]:
    return [tree_of(words, heads) for heads in enumerate_projective(len(words))]


def pieces_of(words: Words) -> list[tuple[int, ...]]:
    return tokenizer().encode_all(words)


@dataclass(frozen=True)
class Proposal:
    """Trees with probabilities that fall off along the list, said to have been drawn."""

    trees: Sequence[Tree]
    drawn: Drawn

    def propose(self, words: Words, count: int, generator: torch.Generator) -> Draws:
        trees = tuple(self.trees[:count])
        return Draws(trees, tuple(-0.2 * place - 2.0 for place in range(len(trees))), self.drawn)


# What a language model is used for


def surprisals(model: Model, sentences: Sequence[Words], **options: Any) -> list[Json]:
    return [
        {
            "words": list(found.words),
            **{name: getattr(found, name).tolist() for name in COLUMNS},
            "pieces": found.pieces.tolist(),
            "end_surprisal": found.end_surprisal,
            "log_probability": found.log_probability,
        }
        for found in model.surprisal(sentences, **options)
    ]


def steps(model: Model, words: Words, pieces: Sequence[Sequence[int]] | None = None, **options: Any) -> Json:
    """Word by word: what each word cost, and the best partial trees after it; then the end."""
    state, found = model.begin(**options), []
    for place, word in enumerate(words):
        state = state.step(word) if pieces is None else state.step_ids(pieces[place], word)
        found.append(
            {
                "figures": [
                    state.surprisal, state.lexical, state.structural, state.entropy, state.entropy_reduction,
                    state.stack_depth, state.kept, state.log_probability,
                ],
                "hypotheses": len(state.trees(None)),
                "trees": [
                    [list(tree.heads), list(tree.stack), tree.probability, tree.log_probability]
                    for tree in state.trees(4)
                ],
            }
        )  # fmt: skip
    ending = state.end()
    best = ending.trees(4) if has_trees(model) else []
    return {
        "words": found,
        "end": [ending.surprisal, ending.log_probability],
        "trees": [[list(scored.tree.heads), scored.log_probability] for scored in best],
    }


def sentence_log_probability(
    model: Model, words: Words, pieces: Sequence[Sequence[int]] | None = None, **options: Any
) -> float:
    state = model.begin(**options)
    for place, word in enumerate(words):
        state = state.step(word) if pieces is None else state.step_ids(pieces[place], word)
    return state.end().log_probability


def parse(model: Model, words: Words, **options: Any) -> Json:
    found = model.parse(words, **options)
    return [list(found.tree.heads), found.log_probability]


def has_trees(model: Model) -> bool:
    return model.has_trees


def score(model: Model, trees: Sequence[Tree], **options: Any) -> Json:
    """All in one call, but for those beyond the model's reach."""
    within = [is_within_reach(model, tree) for tree in trees]
    scores = iter(model.score(list(compress(trees, within)), **options))
    return [
        [list(tree.heads), next(scores) if is_near else "too far"] for tree, is_near in zip(trees, within, strict=True)
    ]


def is_within_reach(model: Model, tree: Tree) -> bool:
    try:
        model.score([tree])
    except TooFarError:
        return False
    return True


def score_ids(model: Model, pieces: Sequence[Sequence[int]], heads: Sequence[int], constrained: bool) -> float:
    return model.decoder_model.score_ids(pieces, heads, constrained)


def score_batch(model: Model, trees: Sequence[Tree]) -> list[float]:
    """By the way that training takes, without a shared trie."""
    trees = [tree for tree in trees if is_within_reach(model, tree)]
    decoder_model = model.decoder_model
    batch = decoder_model.encode(trees, [pieces_of(tree.words) for tree in trees])
    found: list[float] = decoder_model.score_batch(batch).tolist()
    return found


def marginal(model: Model, words: Words, how: Any, **options: Any) -> Json:
    found = model.marginal(words, how, **options)
    return {name: getattr(found, name) for name in MARGINAL}


def generate(model: Model, count: int, **options: Any) -> Json:
    return [
        [
            list(sentence.words),
            None if sentence.tree is None else list(sentence.tree.heads),
            sentence.log_probability,
            sentence.complete,
        ]
        for sentence in model.generate(count, **options)
    ]


def rerank(model: Model, words: Words, proposal: Any, **options: Any) -> Json:
    found = model.rerank(words, proposal, **options)
    return {
        "trees": [[list(one.tree.heads), one.log_probability, one.log_q, one.proposal_rank] for one in found.trees],
        "draws": found.draws,
        "lower_bound": found.lower_bound,
        "share": found.share(found.trees[0]),
    }


# Training


def training_step(model: Model, trees: Sequence[Tree], pieces: Sequence[Any] | None = None) -> Json:
    """The loss of a batch, and what it says about every weight."""
    pieces = [pieces_of(tree.words) for tree in trees] if pieces is None else pieces
    return loss_and_gradients(model.decoder_model, model.decoder_model.encode(trees, pieces))


def parser_training_step(parser: Parser, trees: Sequence[Tree]) -> Json:
    return loss_and_gradients(parser, ParserSplit(trees, parser.vocabulary).batch(range(len(trees)), "cpu"))


def loss_and_gradients(module: Any, batch: Any) -> Json:
    module.train()
    module.zero_grad()
    loss = module.loss(batch)
    loss.total.backward()
    module.eval()
    return {
        "loss": loss.total.item(),
        "counts": [loss.predicted, loss.words, loss.pieces],
        "padding": loss.padding,
        "groups": [
            [group["lr"], sum(one.numel() for one in group["params"])] for group in module.parameter_groups(0.01)
        ],
        "gradients": {name: digest(one.grad) for name, one in module.named_parameters()},
    }


def weights(trained: Model | Parser) -> Json:
    module = trained.decoder_model if isinstance(trained, LanguageModel) else trained
    return {name: digest(parameter.detach()) for name, parameter in module.named_parameters()}


def digest(values: Tensor | None) -> Json:
    """Sum, absolute sum, a sum that depends on places, and an entry."""
    if values is None:
        return None
    flat: list[float] = values.double().flatten().tolist()
    placed = (value * math.cos(place) for place, value in enumerate(flat, start=1))
    return [math.fsum(flat), math.fsum(map(abs, flat)), math.fsum(placed), flat[len(flat) // 2]]


# What a parser is used for


def best_parses(parser: Parser, sentences: Sequence[Words]) -> list[Json]:
    return [parsed(found) for found in parser.parse_all(sentences)]


def k_best(parser: Parser, words: Words, k: int) -> list[Json]:
    return [parsed(found) for found in parser.k_best(words, k)]


def k_best_trees(parser: Parser, words: Words, k: int) -> list[Tree]:
    return [found.tree for found in parser.k_best(words, k)]


def samples(parser: Parser, words: Words, k: int, seed: int) -> list[Json]:
    return [parsed(found) for found in parser.sample(words, k, torch.Generator().manual_seed(seed))]


def samples_without_replacement(parser: Parser, words: Words, k: int, seed: int) -> list[Json]:
    generator = torch.Generator().manual_seed(seed)
    return [parsed(found) for found in parser.sample_without_replacement(words, k, generator)]


def parsed(found: Any) -> Json:
    labels = None if found.tree.labels is None else " ".join(found.tree.labels)
    return [list(found.tree.heads), labels, found.log_probability]
