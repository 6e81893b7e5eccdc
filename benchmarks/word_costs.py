"""What a word costs in each system: `python -m benchmarks.word_costs RUN/best=CORPUS ...`.

For trained models, each with a prepared corpus of trees of its kind: rows and predictions a word in training, keys a row
attends to, CPU time of a training step a word; rows and CPU time a word in search, and what it keeps. The same dev sentences
for all, one thread, the least of several repeats in turns.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from dtg.environment import keep_freed_memory
from dtg.families.packing import PackedRows
from dtg.model import DecoderModel
from dtg.search.beam_search import BeamSearch
from dtg.search.options import ACCURACIES, Accuracy, BeamOptions
from dtg.search.prefix_trie import search_all
from dtg.text.corpus import Corpus
from dtg.transitions.action import NOTHING

BATCH = 32


class System:
    """A model, a batch that it is trained on, and some of its sentences that are searched."""

    def __init__(self, folder: Path, corpus: Path, searched: int, accuracy: Accuracy) -> None:
        self.name = folder.parent.name if folder.name == "best" else folder.name
        self.model = DecoderModel.load(folder)
        split = Corpus.open(corpus).splits["dev"]
        chosen = np.arange(0, len(split), max(1, len(split) // BATCH))[:BATCH]
        sentences = split.batch(chosen, torch.device("cpu"))
        (self.batch,) = self.model.prepare(sentences)
        encode = self.model.require_tokenizer().encode_all
        self.pieces = [encode(split.words(int(place))) for place in chosen[:: BATCH // searched]]
        self.options = BeamOptions.of(accuracy=accuracy)
        self.step_seconds = self.search_seconds = math.inf
        self.searched_rows, self.kept = 0, 0.0

    def step(self) -> None:
        """Forward and backward; the update costs the same in all of them."""
        self.model.train().zero_grad()
        self.model.loss(self.batch).total.backward()

    def search(self) -> None:
        search = BeamSearch(self.model.eval(), self.options)
        found = list(search_all(search, self.pieces))
        self.searched_rows = search.rows_evaluated
        shares = [statistics[-1] for one in found for statistics in one.words]
        self.kept = sum(shares) / len(shares)

    def measure(self) -> None:
        self.step_seconds = min(self.step_seconds, cpu_seconds(self.step))
        with torch.no_grad():
            self.search_seconds = min(self.search_seconds, cpu_seconds(self.search))

    def line(self) -> str:
        rows: PackedRows = self.batch.packed
        words, searched = self.batch.words, sum(map(len, self.pieces))
        keys = sum(float(view.keys.sum()) for view in rows.views) / len(rows.views) / len(rows)
        predictions = int((rows.target != NOTHING).sum())
        return (
            f"{self.name:<30}{len(rows) / words:>9.2f}{predictions / words:>13.2f}{keys:>9.1f}"
            f"{1000 * self.step_seconds / words:>13.2f}{self.searched_rows / searched:>13.0f}"
            f"{1000 * self.search_seconds / searched:>15.1f}{self.kept:>8.1%}"
        )


def cpu_seconds(act: Callable[[], object]) -> float:
    begin = time.process_time()
    act()
    return time.process_time() - begin


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("systems", nargs="+", metavar="MODEL=CORPUS", help="a trained model and a prepared corpus")
    arguments.add_argument("--repeats", type=int, default=2)
    arguments.add_argument("--searched", type=int, default=8, help=f"sentences to search, of {BATCH}")
    arguments.add_argument("--accuracy", default="fast", choices=list(ACCURACIES))
    given = arguments.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    systems = []
    for entry in given.systems:
        model, _, corpus = entry.partition("=")
        systems.append(System(Path(model), Path(corpus), given.searched, given.accuracy))
    for _ in range(given.repeats):
        for system in systems:
            system.measure()
    print(f"1 thread, torch {torch.__version__}; {BATCH} sentences, {systems[0].batch.words:,} words in training")
    print(f"{given.searched} of them searched, accuracy {given.accuracy}; ms are of CPU time")
    print(
        f"{'':<30}{'training':>9}{'':>13}{'':>9}{'':>13}{'search':>13}\n"
        f"{'system':<30}{'rows':>9}{'predictions':>13}{'keys':>9}{'ms/word':>13}{'rows/word':>13}{'ms/word':>15}{'kept':>8}"
    )
    for system in systems:
        print(system.line())


if __name__ == "__main__":
    main()
