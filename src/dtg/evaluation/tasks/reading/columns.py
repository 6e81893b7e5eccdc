"""Which columns of a table of reading times have what: as the user names them, or by the names that are common.

A name is not enough where what is in the column says otherwise: a column `word` with numbers has no words, and one called
`time` whose values are dates in milliseconds has no reading times.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from dtg.errors import ColumnError, InputError
from dtg.tables.formats import MISSING

Role = Literal["word", "time", "story", "sentence", "position", "participant"]
Cells = Mapping[str, Any]
# What columns are called in the corpora that people share, and often in one's own, the likeliest first. Case and _ . - do not
# count. Of the measures of eye tracking, gaze duration comes first, then the total time, then the first fixation.
KNOWN: Mapping[Role, tuple[str, ...]] = {
    "word": tuple(
        "word token region_text ia_label wordform word_form each_word form ia word_text current_word target chunk segment "
        "words region aoi_label aoi".split()
    ),
    "time": tuple(
        "gmean_rt time rt reading_time mean_rt word_time gaze_duration fprt rt_ms duration "
        "word_gaze_duration ia_first_run_dwell_time first_pass first_run_dwell_time rtfirstpass first_run_dur "
        "first_pass_time first_pass_duration first_pass_reading_time word_first_pass_dur mean_gaze_duration gaze_dur gaze gd "
        "fpd mean_time mean_reading_time mean_word_time avg_rt average_rt rts reading_times read_time word_rt spr_rt maze_rt "
        "response_time reaction_time latency "
        "total_reading_time word_total_reading_time ia_dwell_time dwell_time total_time total_duration trt tft dur fdur "
        "first_fixation_duration word_first_fixation_duration ia_first_fixation_duration first_fix_dur ffd rtfirstfix".split()
    ),
    "story": tuple(
        "story story_id story_num story_number text_id text text_num text_number passage passage_id document document_id doc "
        "doc_id article article_id unique_paragraph_id speech_id item item_id item_nr item_number item_num item_no "
        "paragraph_id paragraph trial trial_id trial_index".split()
    ),
    "sentence": tuple(
        "sentence sentence_id sent_id sentence_number sentence_num sent sent_num sent_nr sentence_nr sent_no sentence_no "
        "sent_index sentence_index".split()
    ),
    "position": tuple(
        "word_in_sentence_number word_in_sentence word_pos_in_sent position word_index word_position word_pos word_id "
        "word_number word_num word_nr word_no word_id_within_trial word_num_in_story word_in_text ia_num ia_id zone "
        "index region text_pos w_num".split()
    ),
    "participant": tuple(
        "participant subject subj participant_id subject_id subj_nr subj_id uniform_id sub_id subj_num subject_nr "
        "subject_number worker_id reader reader_id who pp_nr pp prolific_id recording_session_label "
        "md5_hash_of_participants_ip_address".split()
    ),
}
REQUIRED: Mapping[Role, str] = {"word": "the words", "time": "the reading times"}
TEXTS = ("sentence", "text", "stimulus", "stimuli", "sentence_text", "sent", "item_text", "full_sentence", "passage")
# Parts of names that say it, where no name is known and one column alone has such a part.
HINTS: Mapping[Role, str] = {
    "word": "word|token",
    "time": "rt|rts|time|gaze|dur|duration|dwell|gd|fprt|trt|latency",
    "position": "pos|position|idx|index",
    "participant": "subj|subject|participant|reader|worker",
}
SAMPLE = 2000  # rows that are looked at to see what a column has
SHORT, LONG = 20.0, 20_000.0  # ms: where the median of reading times is


def find_columns(
    path: Path, rows: Sequence[Cells], named: Mapping[Role, str | None], needed: Sequence[Role] = ("word", "time")
) -> dict[Role, tuple[str, ...]]:
    """Which columns play which roles; raises if one that is needed is not found, or one that is named is not there."""
    found: dict[Role, tuple[str, ...]] = {}
    there = list(rows[0])
    asked = {role: tuple(split_names(value)) for role, value in named.items() if value is not None}
    for role in KNOWN:
        for name in asked.get(role, ()):
            check_column(path, name, there)
    for role in KNOWN:
        if role in asked:
            found[role] = asked[role]
        else:
            taken = {name for some in (*found.values(), *asked.values()) for name in some}
            found[role] = tuple([name for name in candidates(rows, role) if name not in taken][:1])
            found[role] = found[role] or hinted(rows, role, taken)
    if missing := [role for role in needed if not found[role]]:
        known = "; nor ".join(f"{REQUIRED[role]} (as {', '.join(KNOWN[role][:4])} would be)" for role in missing)
        elsewhere = ", or where the sentences are" if "word" in missing else ""
        raise ColumnError(
            f"{path}: no column is known by its name to have {known}. It has: {shown(there)}. Say which one has "
            f"{' and which '.join(REQUIRED[role] for role in missing)}{elsewhere}.",
            dict.fromkeys(missing, "COLUMN"),
        )
    for role, called in (("time", "times"), ("word", "words"), ("position", "numbers of words")):
        if len(found[role]) > 1:
            raise InputError(f"one column of {called} is expected; {', '.join(found[role])} were named.")
    return found


def candidates(rows: Sequence[Cells], role: Role) -> list[str]:
    """The columns whose names are known for a role, and whose values could be that; the likeliest first."""
    return fitting(rows, role, known_columns(list(rows[0]), KNOWN[role]))


def hinted(rows: Sequence[Cells], role: Role, taken: Collection[str]) -> tuple[str, ...]:
    """The one column that a part of its name speaks for, such as mean_gd; none if there are several."""
    hint = re.compile(rf"(^|[\W_]|(?<=[a-z])(?=[A-Z]))({HINTS.get(role, '$.')})([\W_\d]|$)", re.IGNORECASE)
    named = [name for name in rows[0] if name not in taken and hint.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name))]
    found = fitting(rows, role, named, is_sure=False)
    return tuple(found) if len(found) == 1 else ()


def fitting(rows: Sequence[Cells], role: Role, known: Sequence[str], *, is_sure: bool = True) -> list[str]:
    """Those of some columns whose values could play a role."""
    some = rows[:: max(1, len(rows) // SAMPLE)]
    values = {name: [one for row in some if (one := text_of(row.get(name))) not in MISSING] for name in known}
    filled = [name for name in known if values[name]]
    if role == "word":
        return [name for name in filled if sum(map(is_number, values[name])) <= len(values[name]) / 2]
    if role == "position":
        return [name for name in filled if all(map(is_number, values[name]))]
    if role == "time":
        numbers = [name for name in filled if all(map(is_number, values[name]))]
        likely = [name for name in numbers if SHORT <= statistics.median(map(plain_number, values[name])) <= LONG]
        return likely or (
            numbers or list(known) if is_sure else []
        )  # a value that is no number is reported where it is
    return filled


def split_names(value: str) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in value.split(",") if name.strip()]


def text_of(value: Any) -> str:
    return "" if value is None else str(value).strip()


def is_number(text: str) -> bool:
    """Whether it is one, with a decimal point or comma."""
    return re.fullmatch(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?|nan", text) is not None


def plain_number(text: str) -> float:
    return float(text.replace(",", "."))


def shown(names: Sequence[str]) -> str:
    return ", ".join(name for name in names if name)


def known_columns(there: Sequence[str], known: Sequence[str]) -> list[str]:
    """The columns of a table that are called as is known, the likeliest first."""
    simple = {simplified(name): name for name in reversed(there)}
    return [simple[simplified(name)] for name in known if simplified(name) in simple]


def check_column(path: Path, name: str, there: Sequence[str]) -> None:
    """Raise if a column that was named is not there."""
    if name not in there:
        raise InputError(f"{path} has no column {name!r}. It has: {shown(there)}.")


def simplified(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
