"""Trees to packed rows, sentences per second, beside the slow twin in the same run: `python -m benchmarks.rows`.

A batch is 1,024 newswire-like sentences: 22 words in the mean, 1.3 pieces each, trees drawn at random. Oracle included.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

import torch

from dtg import families
from dtg.transitions.batch import SentenceBatch
from dtg.trees import DependencyTree
from tests.twins import TWINS, random_projective_heads

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    print(f"{options.sentences} sentences, {torch.get_num_threads()} threads, torch {torch.__version__}\n")
    print(f"{'family':<12}{'sentences/s':>12}{'rows/s':>13}{'twin, s/s':>11}{'ratio':>8}{'of released':>13}{'widest':>8}")
    trees, pieces = newswire_like(options.sentences, 22.0, seed=1)
    batch = SentenceBatch.of(trees, pieces)
    words = sum(map(len, trees))
    names = [[[str(p) for p in word] for word in sentence] for sentence in pieces]
    for name in families.FAMILIES:
        family = families.get(name)
        packed = pack_batch(family, batch)
        seconds = best_of(options.repeats, lambda family=family: pack_batch(family, batch))  # type: ignore[misc]
        some = options.sentences // 8
        slow = best_of(1, lambda family=family, name=name: [  # type: ignore[misc]
            TWINS[name](family.system.oracle(t), p, "word+arc") for t, p in zip(trees[:some], names[:some], strict=True)
        ])  # fmt: skip
        rate, slow_rate = options.sentences / seconds, some / slow
        print(
            f"{name:<12}{rate:>12,.0f}{len(packed) / seconds:>13,.0f}{slow_rate:>11,.0f}{rate / slow_rate:>8.1f}"
            f"{rate / RELEASED:>12.1f}x{packed.attends.shape[1]:>8}"
        )
    print(f"\nmean {words / options.sentences:.1f} words, {len(batch.pieces) / words:.2f} pieces a word")
    print(f"the released code's masks: about {RELEASED} sentences/s at any length (quoted, not measured in this run)\n")

    print("growth with length (dtg): microseconds per word, which stay level if cost is linear")
    for mean in (10, 20, 40, 80):
        trees, pieces = newswire_like(options.sentences, float(mean), seed=2)
        batch = SentenceBatch.of(trees, pieces)
        seconds = best_of(options.repeats, lambda batch=batch: pack_batch(families.get("dtg"), batch))  # type: ignore[misc]
        words = sum(map(len, trees))
        print(f"  mean {words / len(trees):5.1f} words  {options.sentences / seconds:>8,.0f} sentences/s  {1e6 * seconds / words:6.2f} us/word")


if __name__ == "__main__":
    main()
