"""Small treebanks and parsers for tests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dtg.parser import BiaffineParser, Parser, ParserConfig, SpanParser
from dtg.parser.data import ParserCorpus
from dtg.parser.phrase_data import PhraseCorpus
from dtg.training import Outcome, RuntimeOptions, TrainingConfig, train
from dtg.trees import ConstituencyTree, DependencyTree
from dtg.trees.enumeration import enumerate_projective
from dtg.trees.phrases.nodes import Node

SIZES: dict[str, Any] = {
    "word_width": 8, "word_count": 1, "character_width": 6, "character_filters": 8, "layers": 1, "width": 12,
    "arc_width": 12, "label_width": 6, "dropout": 0.0, "word_dropout": 0.0,
}  # fmt: skip
TABLE: dict[str, Any] = {
    "seed": 3, "batch_sentences": 4, "epochs": 2, "peak_rate": 1e-2, "start_rate": 1e-3, "final_rate": 1e-3,
    "warmup_share": 0.1, "log_every": 1, "checkpoint_every": 3,
}  # fmt: skip


def some_trees(count: int, seed: int = 0, longest: int = 6) -> list[DependencyTree]:
    """Random projective trees of invented words with labels."""
    numbers = random.Random(seed)
    words = ["".join(numbers.choices("abcdeFG", k=numbers.randint(1, 30))) for _ in range(40)]
    trees = []
    for _ in range(count):
        length = numbers.randint(2, longest)
        heads = numbers.choice(list(enumerate_projective(length)))
        labels = tuple("root" if head == 0 else numbers.choice(["subj", "obj", "mod"]) for head in heads)
        trees.append(DependencyTree(tuple(numbers.choices(words, k=length)), heads, labels))
    return trees


def small_corpus(trees: Sequence[DependencyTree] | None = None) -> ParserCorpus:
    return ParserCorpus(
        {"train": trees or some_trees(10), "dev": trees or some_trees(5, seed=1)}, ParserConfig(**SIZES)
    )


def small_parser(corpus: ParserCorpus | None = None, **changes: Any) -> BiaffineParser:
    """A parser with random weights, the biaffine ones not left at zero, so that trees differ in probability."""
    import torch

    parser = BiaffineParser.create(ParserConfig(**{**SIZES, **changes}), (corpus or small_corpus()).tokenizer, seed=1)
    generator = torch.Generator().manual_seed(2)
    for scorer in (parser.arcs, parser.labels):
        if scorer is not None:
            scorer.weight.data.normal_(generator=generator)
    return parser.eval()


def some_phrases(count: int, seed: int = 0, longest: int = 6) -> list[ConstituencyTree]:
    """Random phrases over invented words, unary chains and tags included."""
    numbers = random.Random(seed)
    words = ["".join(numbers.choices("abcdeFG", k=numbers.randint(1, 30))) for _ in range(40)]
    trees = []
    for _ in range(count):
        nodes, length = list[tuple[str, int, int]](), numbers.randint(1, longest)
        pending = [(1, length, True)]
        while pending:
            first, last, is_phrase = pending.pop()
            chain = ["S", "VP"] if numbers.random() < 0.2 else [numbers.choice(["NP", "VP", "S+"])]
            nodes += [(label, first, last) for label in chain] if is_phrase else []
            if first < last:
                cut = numbers.randrange(first, last)
                pending += [(cut + 1, last, numbers.random() < 0.5), (first, cut, numbers.random() < 0.5)]
        chosen = tuple(numbers.choices(words, k=length))
        tags = tuple(numbers.choice(["DT", "NN", "."]) for _ in chosen)
        trees.append(ConstituencyTree(chosen, tuple(Node(*node) for node in nodes), tags))
    return trees


SPAN_SIZES: dict[str, Any] = {
    "kind": "constituency", "word_width": 8, "word_count": 1, "character_width": 6, "character_filters": 8, "layers": 1,
    "width": 12, "span_width": 16, "label_count": 1, "dropout": 0.0, "word_dropout": 0.0,
}  # fmt: skip


def phrase_corpus(trees: Sequence[ConstituencyTree] | None = None, **changes: Any) -> PhraseCorpus:
    config = ParserConfig(**{**SPAN_SIZES, **changes})
    return PhraseCorpus({"train": trees or some_phrases(20), "dev": trees or some_phrases(5, seed=1)}, config)


def small_span_parser(corpus: PhraseCorpus | None = None, **changes: Any) -> SpanParser:
    """A parser with random weights."""
    config = ParserConfig(**{**SPAN_SIZES, **changes})
    return SpanParser.create(config, (corpus or phrase_corpus()).tokenizer, seed=1).eval()


def small_train(parser: Parser, corpus: ParserCorpus | PhraseCorpus, out: Path, **more: Any) -> Outcome:
    changes = {name: more.pop(name) for name in list(more) if name in TrainingConfig.__slots__}
    config = TrainingConfig.from_dict({**TABLE, **changes})
    options = RuntimeOptions(device="cpu")
    return train(parser, corpus, config, out, model_table=parser.config.to_dict(), options=options, **more)
