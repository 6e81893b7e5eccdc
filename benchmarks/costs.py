"""What a billion words would cost, from rates measured on one core: `python -m benchmarks.costs`.

Each step of the work is run on a few hundred sentences of EWT dev (DTG_DATA), with one thread. Rates are words per second of
processor time, which other programs on the machine disturb little. A step that is not in `--only` is left out.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch

import dtg
from benchmarks.training import step_of
from dtg.io.messages import pluralize
from dtg.parser import Parser
from dtg.search.options import Accuracy
from dtg.tables.items import sentence_of
from dtg.text import prepare_corpus
from dtg.trees import DependencyTree, read_treebank, write_conllu

BILLION, DAY = 1e9, 86_400.0
ACCURACIES: tuple[Accuracy, ...] = ("fast", "default", "high")


def processor_time(work: Callable[[], object]) -> float:
    """Seconds of this process."""
    began = time.process_time()
    work()
    return time.process_time() - began


def show(what: str, sentences: Sequence[Sequence[str]], work: Callable[[Sequence[Sequence[str]]], object]) -> None:
    """A line: the rate, and what a billion words would take."""
    words = sum(map(len, sentences))
    seconds = processor_time(lambda: work(sentences))
    rate = words / seconds
    days = BILLION / rate / DAY
    print(f"{what:<34}{words:>8,}{rate:>14,.0f}{days:>16,.1f}", flush=True)


def best_trees(parser: Parser, sentences: Sequence[Sequence[str]]) -> None:
    """As `dtg parse` finds them."""
    for _ in parser.k_best_all(sentences, 1, annotate=True):
        pass


def prepare(trees: Sequence[DependencyTree], tokenizer: Path) -> None:
    """Trees to arrays, with a tokenizer that is there."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "some.conllu"
        write_conllu(trees, file)
        prepare_corpus({"train": [file], "dev": [file]}, Path(folder) / "corpus", tokenizer=tokenizer)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    folder = Path(os.environ.get("DTG_DATA", "."))
    options.add_argument("file", nargs="?", type=Path, default=folder / "ud" / "en_ewt-ud-dev.conllu")
    options.add_argument(
        "--parser", action="append", default=["parser-small"], help="another parser, such as one with MiniLM"
    )
    options.add_argument("--sentences", type=int, default=60, help="of more than three words, for what searches")
    options.add_argument("--only", nargs="*", help="steps to measure: those whose names begin so")
    given = options.parse_args()
    torch.set_num_threads(1)
    trees = list(read_treebank([given.file]))
    model, words_model = dtg.load("dtg-mini"), dtg.load("txl-mini")
    found = pluralize(len(trees), "sentence")
    print(f"{given.file.name}: {found}; one thread, torch {torch.__version__}; processor time")
    print(f"{'step':<34}{'words':>8}{'words/s':>14}{'days/billion':>16}")

    def measure(what: str, some: Sequence[DependencyTree], work: Callable[[Sequence[Sequence[str]]], object]) -> None:
        if given.only is None or what.startswith(tuple(given.only)):
            show(what, [tree.words for tree in some], work)

    texts = [" ".join(tree.words) for tree in trees]
    measure("read: split text into words", trees, lambda _: [sentence_of(text, tokenized=False) for text in texts])
    for name in given.parser:
        parser = dtg.load_parser(name)
        list(parser.k_best_all([trees[0].words], 1))
        measure(f"parse: {Path(name).parent.name or name}", trees, partial(best_trees, parser))
    [tokenizer] = (dtg.pretrained.find("dtg-mini")).glob("*.model")
    # The file is encoded twice, as train and as dev.
    measure("prepare: trees to arrays", [*trees, *trees], lambda _: prepare(trees, tokenizer))
    some = trees[:320]
    model.score(some[:8])
    measure("score: given trees", some, lambda _: model.score(some))

    def train(_: object) -> None:
        for first in range(0, len(some), 32):
            batch = [*some[first : first + 32]]
            pieces = [model.tokenizer.encode_sentence(tree.words, "") for tree in batch]  # type: ignore[union-attr]
            step_of(model.decoder_model, model.decoder_model.encode(batch, pieces))()

    few = [tree for tree in trees if len(tree) > 3][: given.sentences]
    measure("surprisal: txl-mini", trees, lambda s: words_model.surprisal(s))
    parser = dtg.load_parser("parser-small")
    measure("rerank: 300 trees", few[:8], lambda s: [model.rerank(words, parser, 300) for words in s])
    for accuracy in ACCURACIES:
        measure(f"surprisal: dtg-mini, {accuracy}", few, partial(model.surprisal, accuracy=accuracy))
    measure("train: dtg-mini, one epoch", some, train)  # last: it changes the weights


if __name__ == "__main__":
    main()
