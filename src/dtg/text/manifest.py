"""`manifest.json`: the options, counts and hashes of a prepared corpus; written last, checked first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dtg.errors import CorpusError
from dtg.io.hashing import file_hash, json_hash
from dtg.io.json_files import FORMAT_VERSION, MANIFEST, parse_json
from dtg.trees.kinds import CONSTITUENCY, DEPENDENCY

TOKENIZER = "tokenizer.model"
AGAIN = "Prepare the corpus again into another folder, or remove this one first."

Manifest = Mapping[str, Any]


def describe_file(folder: Path, path: Path) -> dict[str, Any]:
    """A file's path in the folder, its size and its hash."""
    return {"file": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size, "sha256": file_hash(path)}


def kind_of(manifest: Manifest) -> str:
    """Which trees the corpus has, by the name of their kind."""
    kind: str = manifest.get("trees", DEPENDENCY.name)
    return kind


def content_hash(manifest: Manifest) -> str:
    """One hash of all that a model can see; paths of the inputs and reports about them do not count."""
    kind = kind_of(manifest)
    # Dependencies, the only kind there was at first, are not named: corpora of them keep their hashes.
    tables = {"relations": manifest["relations"]} if kind == DEPENDENCY.name else {kind: manifest["labels"]}
    content = {
        "format_version": manifest["format_version"],
        "tokenizer": manifest["tokenizer"]["sha256"],
        **tables,
        "splits": {
            name: {array: described["sha256"] for array, described in split["arrays"].items()}
            for name, split in manifest["splits"].items()
        },
    }
    return json_hash(content)


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write it with its hash; the keys stay in the order in which people want to read them."""
    manifest["hash"] = content_hash(manifest)
    manifest["sha256"] = json_hash(manifest)  # of all that comes before it, the descriptions too
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Read it, and check that this version understands it and that it was not altered."""
    path = folder / MANIFEST
    if not path.is_file():
        what = f"there is no {MANIFEST} in it" if folder.is_dir() else "there is no such folder"
        raise CorpusError(f"{folder} is not a prepared corpus: {what}. Make one with: dtg prepare --out {folder}")
    try:
        manifest: Any = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CorpusError(f"{path} is damaged: {error}. {AGAIN}") from None
    if isinstance(manifest, dict) and "files" in manifest and "splits" not in manifest:
        raise CorpusError(f"{folder} is a saved model or parser, not a prepared corpus. Give the folder of a corpus.")
    version = manifest.get("format_version") if isinstance(manifest, dict) else None
    if version != FORMAT_VERSION:
        raise CorpusError(f"{path} has format version {version}; this dtg reads version {FORMAT_VERSION}. {AGAIN}")
    try:
        rest = {name: value for name, value in manifest.items() if name != "sha256"}
        is_whole = manifest["hash"] == content_hash(manifest)
        is_whole = is_whole and manifest.get("sha256", json_hash(rest)) == json_hash(rest)  # 0.1.0 wrote none
    except (KeyError, TypeError, AttributeError):
        is_whole = False
    if not is_whole:
        raise CorpusError(f"{path} is damaged: it does not agree with its own hash. {AGAIN}")
    if (kind := kind_of(manifest)) not in (DEPENDENCY.name, CONSTITUENCY.name):
        raise CorpusError(f"{path} is of trees of the kind {kind!r}, which this dtg does not know. {AGAIN}")
    result: Manifest = manifest
    return result


def check_files(folder: Path, manifest: Manifest, *, thorough: bool) -> None:
    """Raise unless every file has its size and the tokenizer its hash; with `thorough`, the hash of each file is checked."""
    arrays = [described for split in manifest["splits"].values() for described in split["arrays"].values()]
    for described in (manifest["tokenizer"], *arrays):
        path = folder / described["file"]
        if not path.is_file():
            raise CorpusError(f"the corpus is incomplete: {path} is missing. {AGAIN}")
        if (size := path.stat().st_size) != described["bytes"]:
            raise CorpusError(f"{path} has {size:,} bytes; {described['bytes']:,} are expected. {AGAIN}")
        if (thorough or described is manifest["tokenizer"]) and file_hash(path) != described["sha256"]:
            raise CorpusError(f"{path} was altered: it does not have the hash that the manifest gives. {AGAIN}")
