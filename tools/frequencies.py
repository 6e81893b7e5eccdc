"""Makes the list of word frequencies that comes with the package, from texts whose licences allow it.

    python tools/frequencies.py DATA src/dtg/evaluation/tasks/reading/frequencies.tsv.xz

DATA is the folder of docs/results.md's data: `ud/en_ewt-ud-train.conllu` (CC BY-SA 4.0), `text/gutenberg-fiction.txt.xz` (only
books whose authors died before 1956, which are in the public domain in most of the world) and `text/openstax-textbooks.txt.xz`
(CC BY 3.0). Because EWT is share-alike, so is the list. The same input makes the same file.
"""

from __future__ import annotations

import csv
import lzma
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dtg.evaluation.tasks.reading.frequencies import normalized
from dtg.text.sentence import Sentence
from dtg.trees.conllu import read_conllu

KEPT = 50_000
LAST_YEAR = 1955
LINK = re.compile(r"\[\[link\]\]\([^)]*\)|\[([^\]]*)\]\([^)]*\)")


def main(data: Path, out: Path) -> None:
    counts: Counter[str] = Counter()
    totals = {}
    for name, lines in (("EWT", ewt(data)), ("Gutenberg", gutenberg(data)), ("OpenStax", openstax(data))):
        before = counts.total()
        for line in lines:
            counts.update(word for word in map(normalized, line.replace("—", " ").replace("--", " ").split()) if word)
        totals[name] = counts.total() - before
        print(f"{name}: {totals[name]:,} words", file=sys.stderr)
    kept = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:KEPT]
    about = "; ".join(f"{name} {count:,}" for name, count in totals.items())
    written = [
        f"# Frequencies of the {len(kept):,} most frequent of {len(counts):,} English words, lower-cased, among",
        f"# {counts.total():,} words ({about}).",
        "# UD English EWT, train (CC BY-SA 4.0, universaldependencies.org); novels of Project Gutenberg by authors who",
        "# died before 1956 (public domain); OpenStax textbooks (CC BY 3.0, openstax.org).",
        "# Licence of this list: CC BY-SA 4.0.",
        "word\tcount",
        *(f"{word}\t{count}" for word, count in kept),
    ]
    text = "".join(f"{line}\n" for line in written).encode()
    out.write_bytes(lzma.compress(text, format=lzma.FORMAT_XZ, preset=9 | lzma.PRESET_EXTREME))
    print(f"{out}: {len(kept):,} words, {out.stat().st_size:,} bytes", file=sys.stderr)


def ewt(data: Path) -> Iterator[str]:
    for tree in read_conllu(data / "ud/en_ewt-ud-train.conllu"):
        yield Sentence.of_tree(tree).text or " ".join(tree.words)


def gutenberg(data: Path) -> Iterator[str]:
    with (data / "text/gutenberg-fiction.books.tsv").open(encoding="utf-8", newline="") as file:
        books = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    wanted: set[int] = set()
    for book in books:
        if book["died"].isdigit() and int(book["died"]) <= LAST_YEAR:
            first = int(book["first_line"])
            wanted.update(range(first, first + int(book["paragraphs"])))
    with lzma.open(data / "text/gutenberg-fiction.txt.xz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if number in wanted:
                yield line


def openstax(data: Path) -> Iterator[str]:
    with lzma.open(data / "text/openstax-textbooks.txt.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield LINK.sub(lambda found: found[1] or " ", line)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
