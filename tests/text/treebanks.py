"""Small treebanks for tests: sentences drawn from a few words, written as CoNLL-U."""

from __future__ import annotations

import random
from pathlib import Path

from dtg.trees import DependencyTree, write_conllu

WORDS = "the a cat dog bird sees hears follows quickly slowly in of garden house old young , . do n't 10 000".split()


def random_tree(generator: random.Random, longest: int = 9) -> DependencyTree:
    """Words with heads to their left or right, projective: each subtree is a span with a head somewhere in it."""
    heads = [0] * generator.randint(1, longest)

    def attach(start: int, end: int, head: int) -> None:
        if start == end:
            return
        word = generator.randrange(start, end)
        heads[word] = head
        attach(start, word, word + 1)
        attach(word + 1, end, word + 1)

    attach(0, len(heads), 0)
    words = tuple(generator.choice(WORDS) for _ in heads)
    return DependencyTree(words, tuple(heads), tuple("root" if head == 0 else f"r{head % 3}" for head in heads))


def write_treebank(path: Path, sentences: int, seed: int = 0) -> list[DependencyTree]:
    """Make a file, and give the trees that are in it."""
    generator = random.Random(seed)
    trees = [random_tree(generator) for _ in range(sentences)]
    write_conllu(trees, path)
    return trees
