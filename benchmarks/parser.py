"""Words per second of parsers on the same text in one run: `python -m benchmarks.parser`.

`BiaffineParser` finds the best tree of each sentence, and draws 300 different ones. spaCy's small English pipeline, where it is
installed, finds its own tree: once with all that it does (tags, names, lemmas), once with what trees need. All are given the
words as they are. The text is EWT dev, in DTG_DATA, unless a file is named. The parser has random weights and the usual size
unless a folder is named; random weights cost the best tree nothing, but draws from them are flatter than a trained parser's.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from benchmarks.rows import best_of
from dtg.errors import InputError, MissingExtraError
from dtg.parser import BiaffineParser, ParserConfig
from dtg.parser.encoder.vocabulary import Vocabulary
from dtg.proposals.from_spacy import SpacyParser
from dtg.trees import DependencyTree, read_treebank

Sentences = Sequence[tuple[str, ...]]


def random_parser(trees: Sequence[DependencyTree]) -> BiaffineParser:
    """One of the size of src/dtg/configs/parser.toml; the text is its training set."""
    config = ParserConfig()
    return BiaffineParser.create(config, Vocabulary.of(trees, config.word_count)).eval()


def best_trees(parser: BiaffineParser | SpacyParser, sentences: Sentences) -> None:
    for _ in parser.parse_all(sentences):
        pass


def different_trees(parser: BiaffineParser, sentences: Sentences, count: int) -> None:
    for _ in parser.sample_without_replacement_all(sentences, count, torch.Generator().manual_seed(1)):
        pass


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    folder = Path(os.environ.get("DTG_DATA", "."))
    options.add_argument("file", nargs="?", type=Path, default=folder / "ud" / "en_ewt-ud-dev.conllu")
    options.add_argument("--parser", type=Path, help="the folder of a trained parser")
    options.add_argument("--spacy", default="en_core_web_sm", help="the name or folder of a spaCy pipeline")
    options.add_argument("--trees", type=int, default=300)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--threads", type=int, default=1)
    given = options.parse_args()
    torch.set_num_threads(given.threads)
    trees = list(read_treebank([given.file]))
    sentences = [tree.words for tree in trees]
    words = sum(map(len, sentences))
    print(
        f"{given.file}: {len(sentences):,} sentences, {words:,} words; {given.threads} threads, torch {torch.__version__}"
    )
    ours = random_parser(trees) if given.parser is None else BiaffineParser.load(given.parser)
    print(f"\n{'':<44}{'words/s':>10}{'sentences/s':>13}{'ratio':>8}")
    first = 0.0  # seconds of the first line, which ratios are to

    def report(name: str, work: Callable[[], None], repeats: int) -> None:
        nonlocal first
        seconds = best_of(repeats, work)
        first = first or seconds
        print(
            f"{name:<44}{words / seconds:>10,.0f}{len(sentences) / seconds:>13,.0f}{first / seconds:>8.2f}", flush=True
        )

    report(f"dtg, {given.parser or 'random weights'}", lambda: best_trees(ours, sentences), given.repeats)
    report(f"dtg, {given.trees} different trees of each", lambda: different_trees(ours, sentences, given.trees), 1)
    try:
        lean = SpacyParser.load(given.spacy)
    except (InputError, MissingExtraError) as error:
        print(f"spaCy is left out: {error}")
        return
    import spacy

    whole = SpacyParser(spacy.load(given.spacy))
    report(f"spaCy, {given.spacy}, all of it", lambda: best_trees(whole, sentences), given.repeats)
    report("spaCy, what trees need", lambda: best_trees(lean, sentences), given.repeats)
    print(f"(spaCy's trees: {'; '.join(lean.repairs.lines()) or 'nothing to repair'})")


if __name__ == "__main__":
    main()
