"""Trees to packed rows, sentences per second, beside the slow twin in the same run: `python -m benchmarks.rows`.

A batch is 1,024 newswire-like sentences: 22 words on average, 1.3 subwords each, trees drawn at random. Oracle included.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from dtg import families
from dtg.transitions.batch import SentenceBatch
from dtg.trees import BinaryTree, ConstituencyTree, DependencyTree, Node
from dtg.trees.kinds import BINARY, CONSTITUENCY
from tests.phrase_twins import ROWS as PHRASE_ROWS
from tests.phrase_twins import moves_of
from tests.twins import TWINS, random_projective_heads

LABELS = tuple(f"L{number}" for number in range(26))  # as many as the Penn Treebank has
RELEASED = 500  # sentences per second of the released code's masks on this kind of machine (the design's table)


def newswire_like(count: int, mean: float, seed: int) -> tuple[list[DependencyTree], list[list[list[int]]]]:
    """Trees with lengths spread as in newswire, and piece numbers for every word."""
    chance = random.Random(seed)
    trees, pieces = [], []
    for _ in range(count):
        length = max(1, min(round(4 * mean), round(chance.gammavariate(4.0, mean / 4.0))))
        heads = random_projective_heads(length, chance, chain=0.7)
        trees.append(DependencyTree(tuple(f"w{i}" for i in range(length)), heads))
        split = [1 + (chance.random() < 0.22) + (chance.random() < 0.08) for _ in range(length)]
        pieces.append([[chance.randrange(1, 8000) for _ in range(n)] for n in split])
    return trees, pieces


def a_batch(count: int, mean: float) -> tuple[list[DependencyTree], list[list[list[int]]]]:
    """Newswire-like sentences whose mean length is as near as chance allows to what is asked for."""

    def off(seed: int) -> float:
        return abs(sum(map(len, newswire_like(count, mean, seed)[0])) / count - mean)

    return newswire_like(count, mean, min(range(30), key=off))


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of several runs: these machines are noisy, and noise only adds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def pack_batch(family: families.Family, batch: SentenceBatch) -> families.PackedRows:
    return families.pack(family, family.system.derive(batch), root=0)


def as_family_reads(family: families.Family, trees: list[DependencyTree]) -> list[Any]:
    """Dependencies, or the phrases that they project to, with a label of 26 each, or these binarised."""
    if family.system.kind not in (CONSTITUENCY, BINARY):
        return trees
    chance, found = random.Random(0), list[ConstituencyTree | BinaryTree]()
    for tree in trees:
        nodes = ConstituencyTree.from_dependencies(tree).nodes
        phrases = ConstituencyTree(tree.words, tuple(Node(chance.choice(LABELS), n.first, n.last) for n in nodes))
        found.append(phrases.binarize() if family.system.kind is BINARY else phrases)
    return found


def run_twin(family: families.Family, trees: list[Any], pieces: list[list[list[int]]]) -> None:
    for tree, words in zip(trees, pieces, strict=True):
        split = [[str(piece) for piece in word] for word in words]
        if family.name in PHRASE_ROWS:
            PHRASE_ROWS[family.name](moves_of(tree, split), family.name == "tg")
        else:
            TWINS[family.name](family.system.oracle(tree), split, "word+arc")


def compare_families(sentences: int, repeats: int) -> None:
    """Every family on one batch, beside its twin on an eighth of it."""
    trees, pieces = newswire_like(sentences, 22.0, seed=1)
    words, subwords = sum(map(len, trees)), sum(len(word) for sentence in pieces for word in sentence)
    print(f"{sentences} sentences, {words / sentences:.1f} words on average, {subwords / words:.2f} subwords per word")
    print(
        f"{'family':<12}{'sentences/s':>12}{'rows/s':>12}{'twin, s/s':>11}{'ratio':>8}{'of released':>13}{'widest':>8}"
    )
    some = max(1, sentences // 8)
    for name in families.FAMILIES:
        family = families.get(name, labels=LABELS)
        read = as_family_reads(family, trees)
        batch = SentenceBatch.of(read, pieces)
        packed = pack_batch(family, batch)
        seconds = best_of(repeats, partial(pack_batch, family, batch))
        slow_rate = some / best_of(1, partial(run_twin, family, read[:some], pieces[:some]))
        rate = sentences / seconds
        print(
            f"{name:<12}{rate:>12,.0f}{len(packed) / seconds:>12,.0f}{slow_rate:>11,.0f}{rate / slow_rate:>8.1f}"
            f"{rate / RELEASED:>12.1f}x{packed.views[0].attends.shape[1]:>8}"
        )
    print(f"the released code's masks: about {RELEASED} sentences/s at any length (quoted, not measured in this run)")


def growth(sentences: int, repeats: int) -> None:
    """dtg at several lengths: microseconds per word stay level if cost is linear."""
    print("\ngrowth with length (dtg)")
    for mean in (10, 20, 40, 80):
        trees, pieces = newswire_like(sentences, float(mean), seed=2)
        words = sum(map(len, trees))
        seconds = best_of(repeats, partial(pack_batch, families.get("dtg"), SentenceBatch.of(trees, pieces)))
        rate, per_word = sentences / seconds, 1e6 * seconds / words
        print(f"  mean {words / sentences:5.1f} words  {rate:>8,.0f} sentences/s  {per_word:6.2f} us/word")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    print(f"{torch.get_num_threads()} threads, torch {torch.__version__}")
    compare_families(options.sentences, options.repeats)
    growth(options.sentences, options.repeats)


if __name__ == "__main__":
    main()
