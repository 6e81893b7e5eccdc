"""Where two models differ: `python tools/by_length.py FIRST SECOND LENGTH...`.

FIRST and SECOND are what `dtg evaluate ppl --out` wrote, of the same sentences. Printed: by how many bits per word they differ
in sentences with fewer words than the first LENGTH, from there to the next, and so on; below 0, the first predicts better.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

from dtg.errors import InputError
from dtg.evaluation.results import Results
from dtg.evaluation.tasks.perplexity import Perplexity
from dtg.evaluation.tasks.perplexity_scores import compare, same_sentences


def main() -> None:
    if len(sys.argv) < 4 or not all(length.isdecimal() for length in sys.argv[3:]):
        sys.exit(__doc__)
    try:
        show(Path(sys.argv[1]), Path(sys.argv[2]), [int(length) for length in sys.argv[3:]])
    except InputError as error:
        sys.exit(str(error))


def show(folder: Path, other: Path, lengths: list[int]) -> None:
    first, second = (Results.read(one, Perplexity) for one in (folder, other))
    ours, theirs = first.items, second.items
    same_sentences(ours, theirs)
    limits = sorted({1, max(row["words"] for row in ours) + 1, *lengths})
    for low, high in pairwise(limits):
        both = [[row for row in rows if low <= row["words"] < high] for rows in (ours, theirs)]
        for one in compare(*both) if all(both) else ():
            words = f"{low} to {high - 1} words"
            print(
                f"{first.name} − {second.name}, by {one.by}, {words}: {one.shown} bits per word, {one.sentences:,} sentences"
            )


if __name__ == "__main__":
    main()
