"""What the page may ask for: JSON objects as frozen dataclasses, with limits; anything else is an error that says
what was expected.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, TypeVar

from dtg.errors import InputError
from dtg.explore.states import SearchSettings
from dtg.io.json_files import parse_json
from dtg.io.settings import NonNegativeInt, PositiveInt, check_settings, from_table
from dtg.search.options import Accuracy, BeamOptions

LONGEST_TEXT = 600  # characters
MOST_WORDS = 60
WIDEST_BEAM = 500
MOST_BYTES = 64 * 1024  # of a request
MOST_SENTENCES = 20  # in a saved page
TAB = re.compile(r"[A-Za-z0-9-]{8,64}")

Asked = TypeVar("Asked", bound="Request")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What every request says: who asks."""

    tab: str

    def __post_init__(self) -> None:
        check_settings(self, error=InputError)
        if not TAB.fullmatch(self.tab):
            raise InputError("tab is not a name of 8 to 64 letters, digits and hyphens.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest(Request):
    """And with which search."""

    model: str
    accuracy: Accuracy | None = None
    beam: PositiveInt | None = None
    word_beam: PositiveInt | None = None

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        for name in ("beam", "word_beam"):
            if (getattr(self, name) or 0) > WIDEST_BEAM:
                raise InputError(f"{name} is {getattr(self, name)}; up to {WIDEST_BEAM} can be explored.")
        BeamOptions.of(accuracy=self.accuracy, beam=self.beam, word_beam=self.word_beam)  # raises if they contradict

    @property
    def search(self) -> SearchSettings:
        return SearchSettings(self.model, self.accuracy, self.beam, self.word_beam)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceRequest(SearchRequest):
    """Read a text, word by word."""

    text: str

    def __post_init__(self) -> None:
        SearchRequest.__post_init__(self)
        if len(self.text) > LONGEST_TEXT:
            raise InputError(f"the text has {len(self.text)} characters; up to {LONGEST_TEXT} can be explored.")


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRequest(SearchRequest):
    """Something about the state after these words; `hypothesis` counts from 0."""

    words: tuple[str, ...]
    hypothesis: NonNegativeInt | None = None

    def __post_init__(self) -> None:
        SearchRequest.__post_init__(self)
        if len(self.words) > MOST_WORDS:
            raise InputError(f"there are {len(self.words)} words; up to {MOST_WORDS} can be explored.")
        if any(not word for word in self.words) or sum(map(len, self.words)) > LONGEST_TEXT:
            raise InputError(f"words are expected, none of them empty, of {LONGEST_TEXT} characters in all.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveRequest(Request):
    """A page with these sentences, each read by the model at the same place of `models`."""

    texts: tuple[str, ...]
    models: tuple[str, ...]
    accuracy: Accuracy | None = None
    beam: PositiveInt | None = None
    word_beam: PositiveInt | None = None

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        if not 1 <= len(self.texts) <= MOST_SENTENCES or len(self.texts) != len(self.models):
            raise InputError(f"from 1 to {MOST_SENTENCES} sentences are expected, and a model for each.")
        for text, model in zip(self.texts, self.models, strict=True):
            SentenceRequest(
                tab=self.tab, text=text, model=model, accuracy=self.accuracy, beam=self.beam, word_beam=self.word_beam
            )


def parse(kind: type[Asked], body: bytes) -> Asked:
    """A request from its JSON text."""
    try:
        table: Any = parse_json(body)
    except ValueError as error:
        raise InputError(f"the request is not JSON: {error}.") from None
    if not isinstance(table, dict):
        raise InputError("the request is not a JSON object.")
    try:
        json.dumps(table, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError("the request holds half a surrogate pair, which no text can contain.") from None
    try:
        return from_table(kind, table, "the request", noun="key", error=InputError)
    except TypeError as problem:  # a key is missing
        missing = re.search(r"argument.*", str(problem))
        raise InputError(f"the request lacks a key: {missing[0] if missing else problem}.") from None
