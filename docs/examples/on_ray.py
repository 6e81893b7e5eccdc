"""Surprisals or trees of a large corpus, on a cluster that runs Ray: docs/clusters.md.

python on_ray.py corpus.txt --workers 64 --out surprisals
python on_ray.py corpus/*.parquet --column sentence --trees --out trees
"""

from __future__ import annotations

import argparse
from pathlib import Path

import ray

from dtg import cluster, pretrained


def main() -> None:
    """Read the files, map them, and write Parquet files as they come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="text with a sentence on each line (.txt, .gz, .xz), .csv or .parquet")
    parser.add_argument("--column", default="text", help="the column with the sentences, of a table")
    parser.add_argument("--trees", action="store_true", help="trees of a parser instead of surprisals")
    parser.add_argument("--model", help="a folder that every machine sees, or a bundled name")
    parser.add_argument("--accuracy", choices=("fast", "default", "high"), help="of the search")
    parser.add_argument("--tokenized", action="store_true", help="words are between spaces")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--cpus", type=int, default=1, help="of each worker")
    parser.add_argument("--gpus", type=float, default=0, help="of each worker; may be a fraction")
    parser.add_argument("--batch-size", type=int, default=1024, help="rows that a worker is handed at a time")
    parser.add_argument("--out", required=True, help="a folder for Parquet files, which must not exist")
    given = parser.parse_args()
    if Path(given.out).exists():
        parser.error(f"{given.out} exists")
    if not ray.is_initialized():
        ray.init()  # the cluster that RAY_ADDRESS names; without it, this machine
    suffix = Path(given.files[0]).suffix
    readers = {".parquet": ray.data.read_parquet, ".csv": ray.data.read_csv}
    dataset = readers[suffix](given.files) if suffix in readers else cluster.read_lines(given.files)
    workers = cluster.Workers(given.workers, given.cpus, given.gpus, given.batch_size)
    column = given.column if suffix in readers else "text"
    if given.trees:
        name = given.model or pretrained.PARSER
        found = cluster.parse(dataset, parser=name, column=column, tokenized=given.tokenized, workers=workers)
    else:
        name, how = given.model or pretrained.MODEL, {"accuracy": given.accuracy, "tokenized": given.tokenized}
        found = cluster.surprisal(dataset, model=name, column=column, workers=workers, **how)
    found.write_parquet(given.out)


if __name__ == "__main__":
    main()
