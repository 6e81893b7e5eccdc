"""How accurate and how fast a search is: `python -m benchmarks.search`, with DTG_DATA naming the folder of real data.

Sentences of Natural Stories and of EWT, half of each. Surprisals of several settings are held against those of a beam of
1,000 (word beam 1,000), which takes hours and is therefore kept in a file, sentence by sentence, and resumed: numbers only,
under a hash of the sentence's words. Beside them stands what a user might take instead: a model without trees of GPT-2's
size, at the same words. Its weights are random: it is there for its speed alone. Rates are words per second of CPU time:
other processes disturb them less than the clock's.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import math
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import mean
from typing import Any

import torch

import dtg
from dtg.model import DecoderModel, ModelConfig
from dtg.scoring.kept import LITTLE
from dtg.scoring.surprisals import read_in_one_pass
from dtg.search.beam_search import BeamSearch
from dtg.search.options import BeamOptions
from dtg.search.prefix_trie import Pieces, SearchedSentence, search_all
from dtg.text.sentence import as_sentence
from dtg.trees.conllu import read_conllu

Words = tuple[str, ...]
REFERENCE = BeamOptions(beam=1_000, word_beam=1_000)
SETTINGS = {
    "accuracy fast": BeamOptions.of(accuracy="fast"),
    "accuracy default": BeamOptions.of(),
    "accuracy high": BeamOptions.of(accuracy="high"),
    "beam 300, word beam 100": BeamOptions(beam=300, word_beam=100),
    "beam 100, word beam 33": BeamOptions(beam=100, word_beam=33),
    "beam 20, word beam 7": BeamOptions(beam=20, word_beam=7),
}
GPT2: dict[str, Any] = {"layers": 12, "width": 768, "attention_heads": 12, "head_width": 64, "feedforward": 3072}
GPT2_VOCABULARY = 50_257
KEPT = Path(__file__).with_name("search_reference.jsonl")  # of dtg-mini


@dataclass(slots=True)
class Measured:
    """One setting: its best CPU time, and its last answer."""

    seconds: float = math.inf
    rows: int = 0
    found: tuple[SearchedSentence, ...] = ()


def natural_stories(data: Path) -> list[Words]:
    """Its sentences, split into words as the model's are."""
    with (data / "rt" / "naturalstories.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = [" ".join(row["word"] for row in some) for _, some in groupby(rows, lambda r: (r["story"], r["sentence"]))]
    return [as_sentence(text, "en").words for text in texts]


def web_treebank(data: Path) -> list[Words]:
    """The sentences of EWT's dev set with three words or more."""
    trees = read_conllu(data / "ud" / "en_ewt-ud-dev.conllu", roots="first")
    return [tree.words for tree in trees if len(tree.words) > 2]


def choose_sentences(data: Path, count: int) -> list[Words]:
    """Half from each, in turns, the same every time: the first ones are those of a smaller number."""
    chance = random.Random(0)
    pairs = zip(chance.sample(natural_stories(data), 200), chance.sample(web_treebank(data), 200), strict=True)
    return [words for pair in pairs for words in pair][:count]


def fingerprint(words: Words) -> str:
    """Which sentence it is, without its text."""
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def reference(
    path: Path, model: DecoderModel, sentences: Sequence[Words], minutes: float
) -> Mapping[Words, list[float]]:
    """Surprisals of each sentence by a very wide beam, from the file as far as they are there.

    Stops after some minutes, with those that are known by then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    known = {record["sentence"]: record["surprisal"] for record in map(json.loads, lines)}
    search, tokenizer = BeamSearch(model, REFERENCE), model.require_tokenizer()
    with path.open("a", encoding="utf-8") as file:
        for words in sentences:
            key = fingerprint(words)
            if key in known:
                continue
            if time.monotonic() - begin > 60 * minutes:
                break
            (found,) = search_all(search, [tokenizer.encode_all(words)], ends=False)
            known[key] = [round(one, 6) for one in surprisals(found)]
            file.write(json.dumps({"sentence": key, "surprisal": known[key]}) + "\n")
            file.flush()
    return {words: known[fingerprint(words)] for words in sentences if fingerprint(words) in known}


def surprisals(found: SearchedSentence) -> list[float]:
    return [statistics[1] for statistics in found.words]


def differences(found: Sequence[SearchedSentence], expected: Sequence[Sequence[float]]) -> Iterator[float]:
    """In bits, word by word."""
    for one, its in zip(found, expected, strict=True):
        yield from (abs(a - b) / math.log(2) for a, b in zip(surprisals(one), its, strict=True))


def measure(into: Measured, run: Callable[[], Sequence[SearchedSentence]]) -> None:
    begin = time.process_time()
    into.found = tuple(run())
    into.seconds = min(into.seconds, time.process_time() - begin)


def gpt2_sized(sentences: Sequence[Sequence[Pieces]]) -> tuple[DecoderModel, list[list[Pieces]]]:
    """A model without trees of GPT-2's size, and the sentences with other subwords, as many as they have."""
    model = DecoderModel.create(ModelConfig(family="txl-tokens", vocabulary=GPT2_VOCABULARY, **GPT2)).eval()
    chance = random.Random(0)
    return model, [[tuple(chance.randrange(3, GPT2_VOCABULARY) for _ in word) for word in words] for words in sentences]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sentences", type=int, default=20, help="how many, up to 400")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--repeats", type=int, default=2, help="of all settings, in turns; the best time counts")
    arguments.add_argument("--settings", nargs="*", default=list(SETTINGS), choices=list(SETTINGS), metavar="NAME")
    arguments.add_argument("--reference", type=Path, default=KEPT, help="a file to keep it in")
    arguments.add_argument("--minutes", type=float, default=8.0, help="for the reference; 0 takes what is there")
    given = arguments.parse_args()
    if "DTG_DATA" not in os.environ:
        raise SystemExit(
            "DTG_DATA is not set; it names the folder with rt/naturalstories.csv and ud/en_ewt-ud-dev.conllu."
        )
    torch.set_num_threads(given.threads)
    model = dtg.load("dtg-mini").decoder_model
    sentences = choose_sentences(Path(os.environ["DTG_DATA"]), given.sentences)
    known = reference(given.reference, model, sentences, given.minutes)
    if not known:
        raise SystemExit(f"{given.reference} has none of these sentences yet; give more --minutes.")
    if len(known) < len(sentences):
        print(f"{len(known)} of {len(sentences)} sentences have a reference; the same command computes more")
    sentences = [words for words in sentences if words in known]
    expected = [known[words] for words in sentences]
    pieces = [model.require_tokenizer().encode_all(words) for words in sentences]
    words = sum(map(len, sentences))
    plain, other_pieces = gpt2_sized(pieces)
    measured = {name: Measured() for name in (*given.settings, "GPT-2's size")}
    for _ in range(given.repeats):
        for name in given.settings:
            search = BeamSearch(model, SETTINGS[name])
            measure(measured[name], lambda: list(search_all(search, pieces)))  # noqa: B023 - used at once
            measured[name].rows = search.rows_evaluated
        one_pass = measured["GPT-2's size"]
        measure(one_pass, lambda: list(read_in_one_pass(plain, other_pieces, False)))
    print(f"{given.threads} threads, torch {torch.__version__}; {len(sentences)} sentences, {words:,} words")
    print(f"{'setting':<26}{'words/s':>9}{'rows/word':>11}{'mean error':>12}{'largest':>9}{'kept':>8}{'< 75 %':>8}")
    for name in given.settings:
        one = measured[name]
        errors = list(differences(one.found, expected))
        kept = [statistics[-1] for found in one.found for statistics in found.words]
        print(
            f"{name:<26}{words / one.seconds:>9.1f}{one.rows / words:>11.0f}{mean(errors):>12.4f}{max(errors):>9.2f}"
            f"{mean(kept):>8.1%}{sum(share < LITTLE for share in kept):>8}"
        )
    rate = words / measured["GPT-2's size"].seconds
    print(f"{'txl-tokens, GPT-2 size':<26}{rate:>9.1f}   (random weights of that size, in one pass: speed alone)")
    print("words/s are of CPU time; errors in bits, against beam 1,000, word beam 1,000; kept is the mean share")


if __name__ == "__main__":
    main()
