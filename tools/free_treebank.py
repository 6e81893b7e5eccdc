"""The part of AMALGUM that is free for any use, as a treebank: `python tools/free_treebank.py AMALGUM.conllu.gz --out FILE`.

The genre `whow` (wikiHow, CC BY-NC-SA) is left out; the texts of the others are CC BY, CC BY-SA or in the public domain.
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

NOT_FREE = "whow"
SENT_ID = "# sent_id = AMALGUM_"


def read_blocks(path: Path) -> Iterator[tuple[str, str]]:
    """The genre and the CoNLL-U text of each sentence."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        block: list[str] = []
        for line in lines:
            if line.strip():
                block.append(line)
            elif block:
                yield genre_of(block, path), "".join(block)
                block = []
        if block:
            yield genre_of(block, path), "".join(block)


def genre_of(block: list[str], path: Path) -> str:
    """What a sentence's id says: AMALGUM_GENRE_DOCUMENT-NUMBER."""
    for line in block:
        if line.startswith(SENT_ID):
            return line[len(SENT_ID) :].split("_")[0]
    raise SystemExit(
        f"{path}: the sentence that begins with {block[0].strip()!r} has no '{SENT_ID}GENRE_...'; "
        "a file of AMALGUM is expected, because genres have different licences."
    )


def is_chosen(place: int, total: int, wanted: int) -> bool:
    """Whether the sentence at a place from 0 is one of `wanted` that are spread evenly over `total`."""
    return (place + 1) * wanted // total > place * wanted // total


def write_free(source: Path, out: Path, wanted: Mapping[str, int], default: int | None) -> dict[str, tuple[int, int]]:
    """Write free sentences, all or an even sample of each genre.

    Args:
        source: a file of AMALGUM.
        out: CoNLL-U.
        wanted: how many sentences of a genre.
        default: how many of a genre that `wanted` does not name; None is all.

    Returns:
        For each free genre, how many sentences were written, and how many there are.
    """
    totals = Counter(genre for genre, _ in read_blocks(source) if genre != NOT_FREE)
    if unknown := sorted(set(wanted) - set(totals)):
        raise SystemExit(f"{source} has no free genre {', '.join(unknown)}; it has {', '.join(sorted(totals))}.")
    limits = {genre: min(total, wanted.get(genre, default or total)) for genre, total in totals.items()}
    places, written = Counter[str](), Counter[str]()
    partial = out.with_name(out.name + ".partial")
    with partial.open("w", encoding="utf-8") as file:
        for genre, text in read_blocks(source):
            if genre == NOT_FREE:
                continue
            if is_chosen(places[genre], totals[genre], limits[genre]):
                file.write(text + "\n")
                written[genre] += 1
            places[genre] += 1
    partial.replace(out)
    return {genre: (written[genre], total) for genre, total in sorted(totals.items())}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("source", type=Path, help="a file of AMALGUM (.conllu, .gz)")
    options.add_argument("--out", type=Path, required=True, help="the treebank to write")
    options.add_argument("--sentences", type=int, help="how many of each genre, spread evenly; all without it")
    options.add_argument("--genre", action="append", default=[], metavar="GENRE=N", help="how many of one genre")
    given = options.parse_args()
    wanted = {}
    for entry in given.genre:
        genre, _, count = entry.partition("=")
        if not count.isdigit():
            options.error(f"--genre {entry}: GENRE=N is expected, such as fiction=8000")
        wanted[genre] = int(count)
    for genre, (written, total) in write_free(given.source, given.out, wanted, given.sentences).items():
        print(f"{genre}: {written:,} of {total:,} sentences")


if __name__ == "__main__":
    main()
