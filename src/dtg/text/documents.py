"""Sentence ids and document boundaries, found in the comments of a treebank's sentences."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

SENTENCE_ID = re.compile(r"#\s*sent_id\s*=\s*(\S.*?)\s*")
NEW_DOCUMENT = re.compile(r"#\s*newdoc\b.*")
DOCUMENT_PART = re.compile(r"(.+)[-_.:/#]s?\d+[a-z]?")  # GUM_academic_exposure-12 belongs to GUM_academic_exposure


class Origin(Protocol):
    """Where a tree was read from."""

    @property
    def path(self) -> str: ...

    @property
    def sentence(self) -> int: ...

    @property
    def comments(self) -> tuple[str, ...]: ...


def sentence_id(source: Origin) -> str:
    """The sentence's `# sent_id`; without one, the file's name and the sentence's number in it."""
    for comment in source.comments:
        if found := SENTENCE_ID.fullmatch(comment):
            return found[1]
    return f"{Path(source.path).name}:{source.sentence}"


class DocumentBoundaries:
    """Finds where documents begin, reading sentence by sentence.

    A file begins a document. Within a file, `# newdoc` does; in a file that has none so far, so does a sentence id whose
    part before the last number is another one.
    """

    def __init__(self) -> None:
        self._path: str | None = None
        self._is_marked = False  # this file has had a `# newdoc`
        self._part: str | None = None

    def begins(self, source: Origin, identifier: str) -> bool:
        """True if this sentence, the next in order, is the first of a document."""
        marked = any(NEW_DOCUMENT.fullmatch(comment) for comment in source.comments)
        found = DOCUMENT_PART.fullmatch(identifier)
        part = found[1] if found else None
        if source.path != self._path:
            begins, self._is_marked = True, marked
        else:
            begins = marked or (not self._is_marked and part != self._part)
            self._is_marked |= marked
        self._path, self._part = source.path, part
        return begins
