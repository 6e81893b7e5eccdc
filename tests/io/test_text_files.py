"""Text files that may be gzipped, and hashes that do not change."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from dtg.errors import DamagedFileError, FileError
from dtg.io.hashing import content_hash, file_hash, files_hash, json_hash
from dtg.io.json_files import read_json, write_json
from dtg.io.text_files import decode_line, open_seekable


@pytest.mark.parametrize("content", [b"", b"a\nb\n", b"a" * 100_000])
def test_gzipped_files_read_as_plain_ones(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "plain").write_bytes(content)
    (tmp_path / "packed").write_bytes(gzip.compress(content))
    for name in ("plain", "packed"):
        with open_seekable(tmp_path / name) as file:
            file.seek(0)
            assert file.read() == content


def test_damaged_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"abc" * 1000)[:-9])
    with pytest.raises(DamagedFileError, match="breaks off or is damaged"):
        open_seekable(tmp_path / "cut.gz")
    with pytest.raises(FileError, match="there is no such file"):
        open_seekable(tmp_path / "nothing")


def test_the_byte_at_fault_is_named_after_a_byte_order_mark_too() -> None:
    assert decode_line("\ufeffa\r\n".encode(), 1) == "a"
    with pytest.raises(ValueError, match="byte 2 of the line is 0xe9, which is not UTF-8"):
        decode_line(b"\xef\xbb\xbfa\xe9\n", 1)


def test_hashes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    assert file_hash(tmp_path / "a") == content_hash("x") == content_hash(b"x") == hashlib.sha256(b"x").hexdigest()
    assert files_hash([tmp_path / "a", tmp_path / "none"]) == content_hash(f"a {content_hash('x')}\n")
    assert json_hash({"b": "ä", "a": 1}) == content_hash(json.dumps({"a": 1, "b": "ä"}))
    assert json_hash("ä", ensure_ascii=False) == content_hash('"ä"')


def test_json_files(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": "ä"})
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == '{\n  "b": "ä"\n}\n'
    assert read_json(tmp_path / "a.json") == {"b": "ä"}
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(DamagedFileError, match=r"cannot read .*a\.json: Expecting .*\nStart over\."):
        read_json(tmp_path / "a.json", "Start over.")
