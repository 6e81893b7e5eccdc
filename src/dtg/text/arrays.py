"""One-dimensional arrays on disk: written piece by piece as `.npy` files, read through memory maps."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtg.errors import CorpusError

CHUNK = 1 << 20  # bytes read at a time


class ArrayWriter:
    """A `.npy` file that grows: its length goes into the header when it is closed."""

    def __init__(self, path: Path, dtype: type[np.generic]) -> None:
        self.path, self.dtype, self.length = path, np.dtype(dtype).newbyteorder("<"), 0
        self._file = path.open("wb")
        self._header()
        self._start = self._file.tell()

    def append(self, values: NDArray[Any]) -> None:
        """Write values after those that are there."""
        self._file.write(np.ascontiguousarray(values, dtype=self.dtype).tobytes())
        self.length += len(values)

    def close(self) -> None:
        """Write the length, and wait until everything is on disk."""
        self._file.seek(0)
        self._header()
        assert self._file.tell() == self._start  # numpy leaves room in the header for the length to grow
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def _header(self) -> None:
        description = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.length,)}
        np.lib.format.write_array_header_1_0(self._file, description)


@contextmanager
def growing(folder: Path, dtypes: dict[str, type[np.generic]]) -> Iterator[dict[str, ArrayWriter]]:
    """A writer for each name, closed at the end whatever happens."""
    writers: dict[str, ArrayWriter] = {}
    try:
        for name, dtype in dtypes.items():
            writers[name] = ArrayWriter(folder / f"{name}.npy", dtype)
        yield writers
    finally:
        for writer in writers.values():
            writer.close()


def open_array(path: Path) -> NDArray[Any]:
    """The array as a memory map: nothing is read until it is looked at."""
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise CorpusError(f"cannot read {path}: {error}. Prepare the corpus again.") from None
    return array


def file_hash(path: Path) -> str:
    """The file's sha256."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
