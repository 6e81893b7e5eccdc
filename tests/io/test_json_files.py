"""JSON from anywhere: what cannot be used is a ValueError, and never another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dtg.errors import DamagedFileError
from dtg.io.json_files import parse_json, read_json


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "nested too deep"),
        ('{"a":' * 5_000, "nested too deep"),
        ("9" * 5_000, "4300 digits"),
        ('["\\ud800"]', r"\\ud800, half a surrogate pair"),
        ('{"\\uDFFF": 1}', r"\\udfff, half a surrogate pair"),
        (b"[\xff]", "can't decode"),
        ("{", "Expecting"),
    ],
)
def test_what_is_no_use_is_a_value_error(text: str | bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_json(text)
    path = tmp_path / "x.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DamagedFileError, match=r"cannot read .*x\.json: "):
        read_json(path)


def test_what_is_json_is_as_json_reads_it() -> None:
    for content in ([1, 2.5, None, True], {"a": "\U0001f600 \u00e9", "b": {"c": ["\u2028"]}}, "\\u"):
        for is_ascii in (True, False):
            text = json.dumps(content, ensure_ascii=is_ascii)
            assert parse_json(text) == parse_json(text.encode()) == content
