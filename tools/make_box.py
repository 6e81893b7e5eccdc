"""Put a trained parser into the package: `python tools/make_box.py RUN/best parser-small`.

The weights are written in half precision. CARD.md of the folder is written by hand, and kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import dtg
from dtg.box import BOXED


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=Path, help="a trained parser")
    options.add_argument("name", help="what it is found by")
    given = options.parse_args()
    out = BOXED / given.name
    dtg.load_parser(given.folder).half().save(out)
    for path in out.iterdir():
        path.chmod(0o644)  # safetensors keeps what it writes to its owner


if __name__ == "__main__":
    main()
