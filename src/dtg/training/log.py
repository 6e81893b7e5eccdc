"""The log of a run, RUN/log.jsonl: the first line says what the run is, the others what happened at which step.

    {"format_version": 1, "kind": "run", ...}
    {"kind": "train", "step": 10, "loss": 5.1, ..., "time": {"seconds": 3.2, "words_per_second": 9120.0}}
    {"kind": "dev", "step": 200, "loss": 4.0, ..., "time": {...}}

Only what is under `time` depends on the machine. A checkpoint knows how long the log was; resuming cuts it back to that,
so that the log of a run that was killed is the log of one that was not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dtg.errors import DamagedFileError
from dtg.io.json_files import FORMAT_VERSION, parse_json


class Log:
    """The log of a run, open for appending; `length` is in bytes."""

    def __init__(self, path: Path, length: int, warn: Callable[[str], None]) -> None:
        present = path.stat().st_size if path.is_file() else 0
        if present < length:
            warn(f"{path} is shorter than when the checkpoint was written ({present:,} bytes, not {length:,}).")
        self.path, self.length = path, min(present, length)
        self.file = path.open("ab")
        self.file.truncate(self.length)

    def start(self, run: Mapping[str, Any]) -> None:
        self.write("run", run, first={"format_version": FORMAT_VERSION})

    def write(self, kind: str, record: Mapping[str, Any], first: Mapping[str, Any] | None = None) -> None:
        line = json.dumps({**(first or {}), "kind": kind, **record}, ensure_ascii=False, allow_nan=False) + "\n"
        data = line.encode("utf-8")
        self.file.write(data)
        self.file.flush()
        self.length += len(data)

    def force_to_disk(self) -> None:
        os.fsync(self.file.fileno())

    def close(self) -> None:
        self.file.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """The records of a log; what a killed process left unfinished at the end is left out."""
    records = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = parse_json(line)
        except ValueError:
            break
        if not isinstance(record, dict):
            break
        records.append(record)
    return records


def summarize_log(path: Path) -> dict[str, Any]:
    """What a run has done so far, in short: its data, its steps, and its best score on dev (None, if there is none yet)."""
    records = read_log(path)
    if not records or records[0].get("kind") != "run" or not {"corpus", "steps", "words"} <= records[0].keys():
        raise DamagedFileError(f"{path} is not the log of a training run: its first line does not say what the run is.")
    run = records[0]
    training = [record for record in records if record.get("kind") in ("train", "dev")]
    if any(type(record.get(name)) is not int for record in training for name in ("step", "words")):
        raise DamagedFileError(
            f"{path} is damaged: a line of it does not say how many steps and words were trained on."
        )
    best = next((record for record in reversed(records) if record.get("kind") == "dev" and record.get("best")), None)
    scores = ("step", "words", "loss", "word_perplexity", "piece_perplexity")
    return {
        "log": str(path),
        "corpus": run["corpus"],
        "training": run.get("training"),
        "steps": max((record["step"] for record in training), default=0),
        "steps_planned": run["steps"],
        "words": max((record["words"] for record in training), default=0),
        "words_planned": run["words"],
        "best_on_dev": best and {name: best[name] for name in scores if name in best},
        "test": next((record for record in reversed(records) if record.get("kind") == "test"), None),
    }
