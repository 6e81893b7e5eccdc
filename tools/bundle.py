"""Bundle a trained model or parser with the package: `python tools/bundle.py RUN/best dtg-mini`.

The weights are written in half precision. CARD.md of the folder is written by hand, and kept. What has read data for
non-commercial use goes to models/ with `--not-free`, and not into the wheel.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import dtg
from dtg.cli.commands.info import kind_of
from dtg.io.saved import read_saved_config
from dtg.pretrained import CHECKOUT, FOLDER


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=Path, help="a trained model or parser")
    options.add_argument("name", help="what it is found by")
    options.add_argument("--not-free", action="store_true", help="its licence does not allow commercial use")
    options.add_argument("--encoder", help="what a parser's pretrained encoder is called, instead of where it lay")
    given = options.parse_args()
    out = (CHECKOUT if given.not_free else FOLDER) / given.name
    missing = f"{given.folder} is not a model or a parser: it has no config.json."
    is_parser = kind_of(read_saved_config(given.folder, missing), given.folder) == "parser"
    if is_parser:
        parser = dtg.load_parser(given.folder)
        if given.encoder is not None:
            parser.config = replace(parser.config, encoder=given.encoder)
        parser.half().save(out)
    else:
        dtg.load(given.folder).decoder_model.half().save(out)
    for path in out.rglob("*"):
        if path.is_file():
            path.chmod(0o644)  # safetensors keeps what it writes to its owner


if __name__ == "__main__":
    main()
