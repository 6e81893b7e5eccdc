"""Small treebanks and parsers for tests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dtg.parser import BiaffineParser, ParserConfig
from dtg.parser.data import ParserCorpus
from dtg.training import Outcome, RuntimeOptions, TrainingConfig, train
from dtg.trees import DependencyTree
from dtg.trees.enumeration import enumerate_projective

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


def small_train(parser: BiaffineParser, corpus: ParserCorpus, out: Path, **more: Any) -> Outcome:
    changes = {name: more.pop(name) for name in list(more) if name in TrainingConfig.__slots__}
    config = TrainingConfig.from_dict({**TABLE, **changes})
    options = RuntimeOptions(device="cpu")
    return train(parser, corpus, config, out, model_table=parser.config.to_dict(), options=options, **more)
