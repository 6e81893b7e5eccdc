"""Text files that may be compressed (.gz, .xz): opened, unpacked, decoded line by line; errors name file and line."""

from __future__ import annotations

import gzip
import lzma
import shutil
import tempfile
import zlib
from io import BufferedWriter
from pathlib import Path
from typing import BinaryIO, cast

from dtg.errors import DamagedFileError, FileError

GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"  # how compressed files begin
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)  # what reading a damaged compressed file raises


def check_is_file(path: Path) -> None:
    """Raise unless there is such a file."""
    if not path.is_file():
        raise FileError(f"cannot read {path}: there is no such file.")


def unzipped(raw: BinaryIO) -> BinaryIO:
    """The content of a file that may be compressed; streams that cannot look ahead are taken as they are."""
    peek = getattr(raw, "peek", None)
    beginning = peek(len(XZ)) if peek is not None else b""
    if beginning.startswith(GZIP):
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    return cast(BinaryIO, lzma.LZMAFile(raw)) if beginning.startswith(XZ) else raw


def open_seekable(path: Path) -> BinaryIO:
    """A file, or what a compressed one holds, open so that one can seek in it; the latter is unpacked into a temporary file."""
    check_is_file(path)
    file = path.open("rb")
    content = unzipped(file)
    if content is file:
        return file
    unpacked = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        with file:
            shutil.copyfileobj(content, unpacked, 1 << 20)
    except DAMAGED as error:
        unpacked.close()
        raise DamagedFileError(f"cannot read {path}: {damage(error)}.") from None
    return cast(BinaryIO, unpacked)


def damage(error: Exception, where: str = "") -> str:
    """What is wrong with a compressed file, as part of a sentence."""
    return f"the compressed file breaks off or is damaged{where} ({error})"


def open_to_write(path: Path, *, suffix: str) -> gzip.GzipFile | lzma.LZMAFile | BufferedWriter:
    """A file open for writing, compressed if the suffix is .gz or .xz; the same content makes the same bytes."""
    if suffix == ".gz":
        return gzip.GzipFile(path, "wb", mtime=0)
    return lzma.LZMAFile(path, "wb") if suffix == ".xz" else path.open("wb")


def decode_line(line: bytes, number: int) -> str:
    """A line as text, without its end; a byte order mark before line 1 is dropped.

    Raises:
        ValueError: with a sentence that says which byte is not UTF-8.
    """
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1} of the line is {error.object[error.start]:#04x}, which is not UTF-8."
        raise ValueError(reason) from None
    return text.rstrip("\r\n")
