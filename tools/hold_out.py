"""Hold every tenth file of a treebank in brackets out, by the list that says which file each tree is from.

    python tools/hold_out.py $DTG_DATA/const/ptb-sample.ptb.gz $DTG_DATA/const/ptb-sample.ids.gz --out DIR

A line of the list is FILE-NUMBER, in the order of the trees, which have a line each. Writes NAME-train.ptb, NAME-heldout.ptb.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Sequence
from pathlib import Path

EVERY = 10


def split(trees: Sequence[str], ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """The trees to be trained on, and those of every tenth file."""
    if len(trees) != len(ids):
        raise SystemExit(f"there are {len(trees):,} trees and {len(ids):,} names; a name for each tree is expected.")
    files = list(dict.fromkeys(one.rpartition("-")[0] for one in ids))
    held = set(files[EVERY - 1 :: EVERY])
    parts: tuple[list[str], list[str]] = ([], [])
    for tree, one in zip(trees, ids, strict=True):
        parts[one.rpartition("-")[0] in held].append(tree)
    return parts


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path, help="NAME.ptb.gz, a tree on each line")
    parser.add_argument("ids", type=Path, help="NAME.ids.gz")
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    given = parser.parse_args(arguments)
    trees, ids = (gzip.decompress(path.read_bytes()).decode().splitlines() for path in (given.trees, given.ids))
    given.out.mkdir(parents=True, exist_ok=True)
    name = given.trees.name.partition(".")[0]
    for part, some in zip(("train", "heldout"), split(trees, ids), strict=True):
        (given.out / f"{name}-{part}.ptb").write_text("".join(tree + "\n" for tree in some), encoding="utf-8")
        print(f"{name}-{part}.ptb: {len(some):,} trees")


if __name__ == "__main__":
    main()
