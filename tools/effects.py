"""How much a suite's conditions differ: `python tools/effects.py SUITE REGION FIRST SECOND FOLDER...`.

FOLDER is what `dtg evaluate sg --out` wrote. Printed: the mean over items of the surprisal of the region in the first condition
minus that in the second, in bits, with its standard error.
"""

from __future__ import annotations

import csv
import statistics
import sys
from pathlib import Path


def surprisals(folder: Path, suite: str, region: str) -> dict[tuple[str, str], float]:
    """By item and condition."""
    with (folder / "regions.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["suite"], row["region"]) == (suite, region)]
    return {(row["item"], row["condition"]): float(row["surprisal"]) for row in rows}


def main() -> None:
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    suite, region, first, second, *folders = sys.argv[1:]
    for folder in folders:
        found = surprisals(Path(folder), suite, region)
        items = sorted({item for item, _ in found})
        if not items or any((item, condition) not in found for item in items for condition in (first, second)):
            conditions = ", ".join(sorted({condition for _, condition in found})) or "none"
            sys.exit(f"{folder}: no region {region} of {suite} in {first} and {second}; conditions there: {conditions}")
        effects = [found[item, first] - found[item, second] for item in items]
        error = statistics.stdev(effects) / len(effects) ** 0.5
        print(f"{folder}: {statistics.mean(effects):+.2f} ± {error:.2f} bits, {len(effects)} items")


if __name__ == "__main__":
    main()
