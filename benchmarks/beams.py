"""What wider beams buy: `python -m benchmarks.beams RUN/best TREEBANK`.

Sentences of 10 to 30 words from a treebank, searched with several beams: the sum of log p(x), which is a lower bound, so more
is better; the rows that were evaluated for it; and the share of probability kept at a word.
"""

from __future__ import annotations

import argparse

import torch

import dtg
from dtg.search.beam_search import BeamSearch
from dtg.search.options import BeamOptions
from dtg.search.prefix_trie import search_all

BEAMS = [(50, 10), (100, 10), (100, 30), (100, 100), (300, 30), (300, 100), (300, 300), (1000, 300)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("treebank")
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model = dtg.load(options.model)
    assert model.tokenizer is not None
    trees = [tree for tree in dtg.read_conllu(options.treebank) if 10 <= len(tree) <= 30]
    trees = trees[:: max(1, len(trees) // options.sentences)][: options.sentences]
    pieces = [model.tokenizer.encode_all(tree.words) for tree in trees]
    print(f"{len(trees)} sentences, {sum(map(len, trees))} words; log p(words, tree) of their own trees ", end="")
    print(f"{sum(model.score([dtg.projectivize(tree).tree for tree in trees])):,.1f} nats")
    print(f"{'beam':>6}{'word beam':>11}{'fast track':>12}{'log p(x)':>12}{'rows':>11}{'kept':>8}{'lowest':>8}")
    for beam, word_beam, fast_track in [*((a, b, 0) for a, b in BEAMS), (300, 30, 3)]:
        search = BeamSearch(model.decoder_model, BeamOptions(beam=beam, word_beam=word_beam, fast_track=fast_track))
        found = list(search_all(search, pieces))
        kept = [statistics[-1] for sentence in found for statistics in sentence.words]
        total = sum(sentence.log_probability for sentence in found)
        print(
            f"{beam:>6}{word_beam:>11}{fast_track:>12}{total:>12,.1f}{search.rows_evaluated:>11,}"
            f"{100 * sum(kept) / len(kept):>7.1f}%{100 * min(kept):>7.1f}%"
        )


if __name__ == "__main__":
    main()
