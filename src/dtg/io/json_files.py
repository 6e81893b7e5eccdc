"""JSON files, and the names and the version of the formats that dtg defines itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dtg.errors import DamagedFileError, DtgError
from dtg.io.atomic import replacing

FORMAT_VERSION = 1  # of every JSON file, and in the metadata of pictures
CONFIG, WEIGHTS = "config.json", "model.safetensors"  # in the folder of a trained model or parser
MANIFEST = "manifest.json"  # in the folder of a prepared corpus, of a trained model or parser: hashes of its files


def parse_json(text: str | bytes) -> Any:
    """What a text in JSON holds.

    Args:
        text: JSON; bytes are UTF-8.

    Raises:
        ValueError: it is not JSON, is nested too deep, or holds what no text and no number of ours can be.
    """
    try:
        written = text if isinstance(text, str) else text.decode()
        content = json.loads(written)
        if "\\u" in written:  # the only way to write half a surrogate pair
            json.dumps(content, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("brackets are nested too deep") from None
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise ValueError(f"it holds {half}, half a surrogate pair, which no text can contain") from None
    return content


def read_json(path: Path, advice: str = "", error: type[DtgError] = DamagedFileError) -> Any:
    """The content of a JSON file.

    Args:
        path: the file.
        advice: the last line of the message if the file cannot be read.
        error: the class of the error that is raised then.
    """
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise error("\n".join([f"cannot read {path}: {problem}.", *([advice] if advice else [])])) from None


def json_text(content: Mapping[str, Any]) -> str:
    """JSON for people to read, with a line end."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file atomically."""
    with replacing(path) as temporary:
        temporary.write_text(json_text(content), encoding="utf-8")
