"""The arrays of a split on disk: written chunk by chunk as `.npy` files, read through memory maps.

Everything of one kind is in one array: the subwords of all words, the heads of all words, and so on. Arrays of starts
say where each word, sentence and document begins; each has one entry more than there are things. Every split has the first
arrays below; those of its trees depend on their kind.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtg.errors import CorpusError

ARRAYS: dict[str, type[np.generic]] = {
    "pieces": np.int32,  # (pieces,) the subwords of all words
    "word_starts": np.int64,  # (words + 1,) the index of each word's first subword
    "sentence_starts": np.int64,  # (sentences + 1,) the index of each sentence's first word
    "document_starts": np.int64,  # (documents + 1,) the index of each document's first sentence
    "sentence_ids": np.uint8,  # all of them, in UTF-8
    "sentence_id_starts": np.int64,  # (sentences + 1,) the index of each one's first byte
}
DEPENDENCY_ARRAYS: dict[str, type[np.generic]] = {
    "heads": np.int32,  # (words,) within the sentence, 0 for <ROOT>
    "relations": np.int32,  # (words,) an index into the manifest's table
}
PHRASE_ARRAYS: dict[str, type[np.generic]] = {
    "node_label": np.int32,  # (nodes,) an index into the manifest's table; nodes are in preorder
    "node_first": np.int32,  # (nodes,) the first word, within the sentence, from 1
    "node_last": np.int32,  # (nodes,) the last one
    "node_starts": np.int64,  # (sentences + 1,) the index of each sentence's first node
}


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
