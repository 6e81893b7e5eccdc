"""Which columns of a table of reading times have what: as the user names them, or by the names that are common."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from dtg.errors import ColumnError, InputError

Role = Literal["word", "time", "story", "sentence", "position", "participant"]
# What columns are often called, the likeliest first; case and _ . - do not count.
KNOWN: Mapping[Role, tuple[str, ...]] = {
    "word": ("word", "token", "region_text", "ia_label", "wordform"),
    "time": (
        *(
            "gmean_rt",
            "time",
            "rt",
            "reading_time",
            "mean_rt",
            "word_time",
            "duration",
            "gaze_duration",
            "fprt",
            "rt_ms",
        ),
        *(
            "word_gaze_duration",
            "ia_first_run_dwell_time",
            "first_pass",
            "first_run_dwell_time",
            "rtfirstpass",
            "latency",
        ),
    ),
    "story": (
        *("story", "text", "text_id", "passage", "document", "doc_id", "story_id", "article", "item", "item_id"),
        *("item_nr", "item_number", "trial"),
    ),
    "sentence": (
        *("sentence", "sentence_id", "sent_id", "sentence_number", "sentence_num", "sent", "sent_nr", "sentence_nr"),
    ),
    "position": (
        *(
            "word_in_sentence_number",
            "word_in_sentence",
            "position",
            "word_index",
            "word_id",
            "word_number",
            "word_num",
        ),
        *("word_pos", "word_nr", "zone", "index", "region", "text_pos"),
    ),
    "participant": (
        *(
            "participant",
            "subject",
            "subj",
            "participant_id",
            "subject_id",
            "subj_nr",
            "subj_id",
            "worker_id",
            "reader",
        ),
        *("who", "pp_nr", "recording_session_label"),
    ),
}
REQUIRED: Mapping[Role, str] = {"word": "the words", "time": "the reading times"}
TEXTS = ("sentence", "text", "stimulus", "stimuli", "sentence_text")  # of whole sentences, in a table of their own


def find_columns(
    path: Path, there: Sequence[str], named: Mapping[Role, str | None], needed: Sequence[Role] = ("word", "time")
) -> dict[Role, tuple[str, ...]]:
    """Which columns play which roles; raises if one that is needed is not found, or one that is named is not there."""
    found: dict[Role, tuple[str, ...]] = {}
    for role, known in KNOWN.items():
        asked = named.get(role)
        if asked is not None:
            names = [name.strip() for name in asked.split(",") if name.strip()]
            for name in names:
                check_column(path, name, there)
            found[role] = tuple(names)
        else:
            taken = {name for some in found.values() for name in some} | {
                part.strip() for value in named.values() if value for part in value.split(",")
            }
            found[role] = tuple([name for name in known_columns(there, known) if name not in taken][:1])
    for role in needed:
        if not found[role]:
            elsewhere = ", or where the sentences are" if role == "word" else ""
            raise ColumnError(
                f"{path}: none of its columns is called {', '.join(KNOWN[role])}. It has: {', '.join(there)}. "
                f"Say which one has {REQUIRED[role]}{elsewhere}.",
                role,
            )
    if found["time"] and len(found["time"]) > 1:
        raise InputError("one column of times is expected.")
    return found


def column_of_texts(path: Path, there: Sequence[str]) -> str:
    """The column that has whole sentences."""
    if found := known_columns(there, TEXTS):
        return found[0]
    raise InputError(f"{path} has no column called {', '.join(TEXTS)}. It has: {', '.join(there)}.")


def known_columns(there: Sequence[str], known: Sequence[str]) -> list[str]:
    """The columns of a table that are called as is known, the likeliest first."""
    simple = {simplified(name): name for name in reversed(there)}
    return [simple[simplified(name)] for name in known if simplified(name) in simple]


def check_column(path: Path, name: str, there: Sequence[str]) -> None:
    """Raise if a column that was named is not there."""
    if name not in there:
        raise InputError(f"{path} has no column {name!r}. It has: {', '.join(there)}.")


def simplified(name: str) -> str:
    return re.sub(r"[\s_.\-]", "", name).lower()
