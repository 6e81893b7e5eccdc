"""One line of a BLiMP file: bytes in, a checked `Pair` out, or an error that names file, line and what is wrong.

    {"sentence_good": "Who should Derek hug after shocking Richard?",
     "sentence_bad": "Who should Derek hug Richard after shocking?",
     "field": "syntax", "linguistics_term": "island_effects", "UID": "adjunct_island", "pairID": "0",
     "one_prefix_method": false, "two_prefix_method": false, ...}

`pair_id`, a number, is read as well as `pairID`: so the Hugging Face copy of the data names it. The two flags may be absent,
for pairs of one's own. Other keys are not used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.blimp.paradigms import FIELD_OF_LABEL, PHENOMENON_OF_TERM

ADVICE = "Mend the line, or get the file again from https://github.com/alexwarstadt/blimp."
SHOWN = 60  # characters of a value in an error


@dataclass(frozen=True, slots=True)
class Pair:
    """A minimal pair: two sentences, the first of which is acceptable."""

    uid: str  # its paradigm
    pair_id: str  # unique within the paradigm
    field: str
    term: str  # `linguistics_term`, as the file has it
    good: str
    bad: str
    one_prefix: bool | None  # made for comparing two words after one prefix; None where the file does not say
    two_prefix: bool | None  # made for comparing one word after two prefixes

    @property
    def phenomenon(self) -> str:
        """One of Warstadt et al.'s twelve, or whatever a paradigm of one's own calls it."""
        return PHENOMENON_OF_TERM.get(self.term, self.term)


def read_line(line: bytes, path: Path, number: int) -> Pair:
    """The pair on a line; `path` and `number` (from 1) are for errors."""
    try:
        content = decode(line)
        identifier = "pair_id" if "pair_id" in content and "pairID" not in content else "pairID"
        field = text(content, "field")
        return Pair(
            uid=text(content, "UID"),
            pair_id=pair_identifier(content, identifier),
            field=FIELD_OF_LABEL.get(field, field),
            term=text(content, "linguistics_term"),
            good=text(content, "sentence_good"),
            bad=text(content, "sentence_bad"),
            one_prefix=flag(content, "one_prefix_method"),
            two_prefix=flag(content, "two_prefix_method"),
        )
    except ValueError as error:
        raise InputError(f"cannot read {path}, line {number}: {error}\n{ADVICE}") from None


def decode(line: bytes) -> Mapping[str, Any]:
    """The JSON object on a line."""
    try:
        written = line.decode("utf-8-sig").strip()  # -sig: some editors put a mark before the first line
    except UnicodeDecodeError as error:
        raise ValueError(
            f"byte {error.start + 1} of the line is {line[error.start]:#04x}, which is not UTF-8."
        ) from None
    if not written:
        raise ValueError("a JSON object is expected, but the line is empty.")
    try:
        content = json.loads(written)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"a JSON object is expected, but at character {error.pos + 1} this goes wrong: {error.msg}. "
            f"The line begins {shortened(written)}."
        ) from None
    if not isinstance(content, dict):
        raise ValueError(f"a JSON object is expected, but this is {shortened(content)}.")
    return content


def text(content: Mapping[str, Any], key: str) -> str:
    """A value that must be a text with something in it."""
    value = given(content, key, "a text")
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f'"{key}" should be a text that is not empty, but is {shortened(value)}.')
    return value


def pair_identifier(content: Mapping[str, Any], key: str) -> str:
    """What a pair is called, as text."""
    value = given(content, key, "a text or a whole number")
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ValueError(f'"{key}" should be a text or a whole number, but is {shortened(value)}.')
    return str(value)


def flag(content: Mapping[str, Any], key: str) -> bool | None:
    """A value that is true, false or absent."""
    value = content.get(key)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f'"{key}" should be true or false, but is {shortened(value)}.')
    return value


def given(content: Mapping[str, Any], key: str, expected: str) -> Any:
    if key not in content:
        raise ValueError(f'"{key}" ({expected}) is missing; the keys are {", ".join(content) or "none"}.')
    return content[key]


def shortened(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"
