"""What inference costs: `python -m benchmarks.inference`.

A random small model (d 256, feed-forward 1,024, 6 layers, 4 heads, vocabulary 8,192): beams over sentences of 10, 20 and 40
words, once with weights as they are drawn, once biased towards GEN so that stacks stay deep; 300 trees of one sentence; an
item of four conditions that share words; 128 sentences, one at a time and together; a text of 500 words. Beside the released
code's seconds, which are quoted from the issue and were measured on a machine of this kind, stands this machine's own rate of
multiplying matrices.
"""

from __future__ import annotations

import argparse
import math
import random
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from benchmarks.training import SMALL, matrix_rate, product, timed
from dtg import DependencyTree
from dtg.errors import TreeError
from dtg.families import FAMILIES
from dtg.model import DecoderModel, ModelConfig
from dtg.model.heads import FactoredHead
from dtg.scoring.tree_scores import score_derivations
from dtg.search.beam_search import BeamSearch
from dtg.search.options import BeamOptions
from dtg.search.prefix_trie import search_all
from dtg.search.word_step import NextWord
from dtg.transitions.table import GENERATE
from tests.twins import random_projective_heads

RELEASED_BEAM = {10: 14.8, 20: 51.6}  # seconds at beam 300, word beam 30
RELEASED_DEEP = {20: 300.0}  # with weights that keep stacks deep
RELEASED_TREES = {20: 3.5, 40: 6.9}  # seconds for 300 trees on two threads of a quiet machine, beside dtg (design.md)
LABELS = tuple(f"L{number}" for number in range(26))  # as many as GUM has
RELEASED_RATE = 200e9  # the matrix rate of that machine
Pieces = tuple[int, ...]


class Searched(NamedTuple):
    """One sentence, searched."""

    seconds: float
    rows: int
    words_looked_up: int  # rows whose whole vocabulary was looked at
    depth: float
    kept: float


def small_model(family: str = "dtg", *, towards_gen: float = 0.0) -> DecoderModel:
    of_phrases: dict[str, Any] = {"labels": LABELS} if "labels" in FAMILIES[family].system.options else {}
    model = DecoderModel.create(ModelConfig(family=family, vocabulary=8192, **SMALL, **of_phrases)).eval()
    assert isinstance(model.head, FactoredHead)
    with torch.no_grad():
        model.head.outer.bias[GENERATE] += towards_gen
    return model


def a_sentence(words: int, seed: int) -> list[Pieces]:
    chance = random.Random(seed)
    return [tuple(chance.randrange(3, 8000) for _ in range(1 + (chance.random() < 0.3))) for _ in range(words)]


def search_one(model: DecoderModel, sentence: Sequence[Pieces], options: BeamOptions) -> Searched:
    """Word by word, as a user who types would."""
    search = BeamSearch(model, options)
    start = time.perf_counter()
    beams, looked_up, kept = search.begin(), 0, 1.0
    for pieces in sentence:
        candidates = search.expand(beams)
        looked_up += len(candidates.beam) * len(pieces)
        beams = search.step(beams, candidates, [NextWord(0, pieces)])
        kept = min(kept, float(beams.statistics.kept[0]))
    search.end(beams)
    seconds = time.perf_counter() - start
    return Searched(seconds, search.rows_evaluated, looked_up, float(beams.statistics.stack_depth[0]), kept)


def operations(model: DecoderModel, rows: int, looked_up: int) -> float:
    """Multiplications and additions that rows and vocabularies cannot do without, attention left out."""
    config = model.config
    inner = config.attention_heads * config.head_width
    per_row = config.layers * (4 * config.width * inner + 2 * config.width * config.feedforward)
    return 2.0 * (rows * per_row + looked_up * config.width * config.vocabulary)


def beams(repeats: int) -> None:
    print(
        f"\n{'weights':<10}{'family':<11}{'beam':>5}{'kept':>6}{'words':>6}{'seconds':>9}{'ms/word':>9}{'rows':>9}",
        end="",
    )
    print(f"{'depth':>7}{'of matmul':>11}{'released':>10}{'faster':>9}")
    cases: list[tuple[str, float, str, int, tuple[int, ...]]]
    cases = [("random", 0.0, "dtg", 30, (10, 20, 40)), ("random", 0.0, "dtg", 300, (10, 20, 40))]
    cases += [("deep", 4.0, "dtg", 30, (10, 20, 40)), ("deep", 4.0, "dtg", 300, (20,))]
    cases += [("random", 0.0, family, 30, (20,)) for family in ("dtg-eager", "dtg-swift", "txl-trans", "txl-tokens")]
    for weights, bias, family, word_beam, lengths in cases:
        model, options = small_model(family, towards_gen=bias), BeamOptions(beam=300, word_beam=word_beam)
        search_one(model, a_sentence(3, 0), options)
        for words in lengths:
            found = min(
                (search_one(model, a_sentence(words, 1), options) for _ in range(repeats)), key=lambda s: s.seconds
            )
            share = operations(model, found.rows, found.words_looked_up) / found.seconds / matrix_rate()
            quoted = (
                (RELEASED_DEEP if bias else RELEASED_BEAM).get(words) if family == "dtg" and word_beam == 30 else None
            )
            against = f"{quoted:>9.1f}s{quoted / found.seconds:>8.0f}x" if quoted else ""
            print(
                f"{weights:<10}{family:<11}{300:>5}{word_beam:>6}{words:>6}{found.seconds:>9.2f}"
                f"{1000 * found.seconds / words:>9.0f}{found.rows:>9,}{found.depth:>7.1f}{100 * share:>10.0f}%{against}"
            )


def families(repeats: int) -> None:
    """CPU milliseconds a row, of every family in turns, at one beam: what a family's own bookkeeping costs."""
    options = BeamOptions(beam=100, word_beam=33, max_actions=12)
    models = {name: small_model(name, towards_gen=1.0) for name in FAMILIES}
    best = dict.fromkeys(models, math.inf)
    rows = dict.fromkeys(models, 0)
    for turn in range(repeats + 1):
        for name, model in models.items():
            start = time.process_time()
            rows[name] = search_one(model, a_sentence(4 if not turn else 10, turn and 1), options).rows
            if turn:
                best[name] = min(best[name], time.process_time() - start)
    print(f"\n{'family':<12}{'rows':>9}{'CPU s':>8}{'ms/row':>8}{'of dtg':>8}")
    of_dtg = best["dtg"] / rows["dtg"]
    for name, seconds in best.items():
        each = seconds / rows[name]
        print(f"{name:<12}{rows[name]:>9,}{seconds:>8.2f}{1000 * each:>8.3f}{each / of_dtg:>8.2f}")


def near(heads: tuple[int, ...], count: int, seed: int) -> list[DependencyTree]:
    """Different trees that a few re-attachments of one tree give, as a parser's proposals differ."""
    chance, length = random.Random(seed), len(heads)
    names = tuple(f"w{i}" for i in range(length))
    found = {heads: DependencyTree(names, heads)}
    while len(found) < count:
        changed = list(heads)
        for _ in range(chance.choice([1, 2, 2, 3])):
            changed[chance.randrange(length)] = chance.randrange(length + 1)
        try:
            tree = DependencyTree(names, tuple(changed))
        except TreeError:
            continue
        if tree.is_projective:
            found[tree.heads] = tree
    return list(found.values())


def tree_sets(repeats: int) -> None:
    print(
        f"\n300 trees near one another\n{'words':>6}{'as a trie':>11}{'CPU':>9}{'one batch':>11}{'ratio':>7}{'released':>10}"
        f"{'faster':>8}   (had it run on a machine as fast as this one, by CPU time)"
    )
    model = small_model()
    for words in (20, 40):
        trees = near(random_projective_heads(words, random.Random(2), chain=0.5), 300, seed=3)
        batch = model.encode(trees, [a_sentence(words, 4)] * len(trees))
        plain, operations = product()
        trie, by_product = timed(
            repeats,
            lambda: score_derivations(model, batch, True),  # noqa: B023 - used at once
            lambda: [plain() for _ in range(8)],  # noqa: B023
        )
        (one_batch,) = timed(1, lambda: model.score_batch(batch, True))  # noqa: B023
        rate = 8 * operations / by_product.cpu  # of a core
        here = RELEASED_TREES[words] * RELEASED_RATE / (2 * rate)
        print(
            f"{words:>6}{trie.wall:>10.2f}s{trie.cpu:>8.2f}s{one_batch.cpu:>10.2f}s{one_batch.cpu / trie.cpu:>6.1f}x"
            f"{here:>9.1f}s{here / (trie.cpu / 2):>7.1f}x",
            flush=True,
        )


def an_item() -> None:
    """Four conditions of fourteen words that differ in two places, as SyntaxGym's do."""
    model, options = small_model(), BeamOptions(beam=100)
    stem, middle, rest = a_sentence(7, 5), a_sentence(3, 6), a_sentence(3, 7)
    conditions = [[*stem, first, *middle, second, *rest] for first in ((11,), (12,)) for second in ((21,), (22,))]

    def rows_and_seconds(groups: Sequence[list[list[Pieces]]]) -> tuple[int, float]:
        search, start = BeamSearch(model, options), time.perf_counter()
        for group in groups:
            list(search_all(search, group))
        return search.rows_evaluated, time.perf_counter() - start

    rows_and_seconds([conditions[:1]])
    together, apart = rows_and_seconds([conditions]), rows_and_seconds([[one] for one in conditions])
    print(f"\nfour conditions of {len(conditions[0])} words, beam 100, word beam {options.words_kept}")
    print(
        f"  shared  {together[1]:6.2f} s {together[0]:>8,} rows    apart  {apart[1]:6.2f} s {apart[0]:>8,} rows", end=""
    )
    print(f"    {apart[1] / together[1]:.1f}x faster, {apart[0] / together[0]:.1f}x fewer rows")


def many_sentences() -> None:
    """Sentences of 5 to 30 words, handed to searches so many at a time."""
    model, chance = small_model(), random.Random(9)
    sentences = [a_sentence(chance.randint(5, 30), seed) for seed in range(128)]
    words = sum(map(len, sentences))
    print(f"\n128 sentences, {words:,} words\n{'beam':>6}{'at a time':>11}{'ms/word':>9}{'rows':>10}{'faster':>9}")
    for options in (BeamOptions(beam=10, word_beam=5), BeamOptions(beam=100)):
        first = 0.0
        for size in (1, 8, options.sentences_together):
            search, start = BeamSearch(model, options), time.perf_counter()
            for place in range(0, len(sentences), size):
                list(search_all(search, sentences[place : place + size]))
            seconds = time.perf_counter() - start
            first = first or seconds
            each = 1000 * seconds / words
            print(f"{options.beam:>6}{size:>11}{each:>9.1f}{search.rows_evaluated:>10,}{first / seconds:>8.1f}x")


def a_long_text(words: int) -> None:
    search = BeamSearch(small_model(), BeamOptions(beam=300, word_beam=30))
    state, hundred = search.begin(), time.perf_counter()
    print(f"\na text of {words} words, beam 300, word beam 30: seconds a word, rows kept, memory")
    for number, pieces in enumerate(a_sentence(words, 8), start=1):
        state = search.step(state, search.expand(state), [NextWord(0, pieces)])
        if number % 100 == 0:
            seconds, hundred = time.perf_counter() - hundred, time.perf_counter()
            pages = Path("/proc/self/statm").read_text().split()[1]  # what is held now, not the most that ever was
            held = int(pages) * resource.getpagesize() / 1e6
            print(f"  to word {number:>4}  {seconds / 100:6.3f} s  {state.cache.used:>6,} rows  {held:6.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--trees", action="store_true", help="only sets of trees")
    parser.add_argument("--families", action="store_true", help="only what a row costs in each family")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.trees:
        tree_sets(options.repeats)
        return
    if options.families:
        families(options.repeats)
        return
    start = time.perf_counter()
    print(
        f"{options.threads} threads, torch {torch.__version__}, {matrix_rate() / 1e9:.0f} GFLOP/s of plain matrix products"
    )
    print("(the released code's seconds are quoted, from a machine that made 320)")
    beams(options.repeats)
    families(options.repeats)
    tree_sets(options.repeats)
    an_item()
    many_sentences()
    a_long_text(500)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"\npeak memory of it all {peak:.1f} GB (released code, one beam: 2 GB)")
    print(f"({time.perf_counter() - start:.0f} s in all)")


if __name__ == "__main__":
    main()
