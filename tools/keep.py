"""Copy the logs and scores of evaluated models to where they last: `python tools/keep.py WORK KEPT`.

What a report reads is copied, without the texts of the items and the times of readers, which belong to their data sets; words
and regions are large, and the evaluation makes them again.
"""

from __future__ import annotations

import argparse
import csv
import shutil
from pathlib import Path

COPIED = ("results.json", "settings.json")
LEFT_OUT = ("words.csv", "regions.csv", "readings.csv")
TEXTS = ("text", "good", "bad", "word")  # columns that are left empty


def keep(work: Path, kept: Path) -> None:
    """Everything that is evaluated in one folder, to the other."""
    for results in sorted(work.glob("evaluated/*/*/results.json")):
        name = results.parent.parent.name
        out = kept / name / results.parent.name
        out.mkdir(parents=True, exist_ok=True)
        for file in COPIED:
            if (results.parent / file).is_file():
                shutil.copyfile(results.parent / file, out / file)
        for table in sorted(results.parent.glob("*.csv")):
            if table.name not in LEFT_OUT:
                copy_without_texts(table, out / table.name)
        log = work / "runs" / name / "log.jsonl"
        if log.is_file():
            shutil.copyfile(log, kept / name / log.name)
        print(f"{name}: {results.parent.name}")


def copy_without_texts(table: Path, out: Path) -> None:
    """The same table with nothing in the columns of texts."""
    with table.open(encoding="utf-8", newline="") as read, out.open("w", encoding="utf-8", newline="") as written:
        rows = csv.DictReader(read)
        columns = rows.fieldnames or []
        writer = csv.DictWriter(written, columns, lineterminator="\n")
        writer.writeheader()
        empty = dict.fromkeys((column for column in columns if column in TEXTS), "")
        writer.writerows({**row, **empty} for row in rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("work", type=Path, help="the folder that tools/results.sh works in")
    options.add_argument("kept", type=Path, help="where to copy to")
    given = options.parse_args()
    keep(given.work, given.kept)


if __name__ == "__main__":
    main()
