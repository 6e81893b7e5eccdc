"""Saved pages: sentences computed once and put into one HTML file that needs no server, and the same inside notebooks."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dtg.errors import InputError
from dtg.explore.assets import escaped, single_page
from dtg.explore.records import Record, model_record
from dtg.explore.requests import MOST_SENTENCES, MOST_WORDS
from dtg.explore.states import SearchSettings, StateStore, check_words
from dtg.io.atomic import replacing
from dtg.model.model import DecoderModel
from dtg.search.options import Accuracy
from dtg.text.sentence import GivenSentence, as_sentence

DETAILED = 3  # hypotheses of each word whose next words and attention are saved
MOST_BYTES = (
    1_000_000  # for a sentence of 15 words or fewer; attention to fewer hypotheses is saved where there is not room
)
FULL_LENGTH = 15
FRAME_HEIGHT = 860  # pixels in a notebook


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A page as text. In a notebook it shows itself, in a frame that contains it."""

    html: str

    def save(self, path: str | Path) -> None:
        """Write the page into a file, which any browser opens.

        Args:
            path: its name, such as page.html.
        """
        path = Path(path)
        if not path.parent.is_dir():
            raise InputError(f"cannot write {path}: the folder {path.parent} does not exist.")
        with replacing(path) as temporary:
            temporary.write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="dtg explorer" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 0" srcdoc="{escaped(self.html)}"></iframe>'
        )


def make_page(
    models: Mapping[str, DecoderModel],
    sentences: Sequence[tuple[str, GivenSentence]],
    accuracy: Accuracy | None = None,
    beam: int | None = None,
    word_beam: int | None = None,
    time_limit: float = math.inf,
) -> SavedPage:
    """One page of several sentences.

    Args:
        models: by name.
        sentences: the name of a model and what it reads, for each.
        accuracy: of the search.
        beam: of the search, if it is to have a fixed width.
        word_beam: of the search.
        time_limit: in seconds; an error is raised after that.
    """
    if not 1 <= len(sentences) <= MOST_SENTENCES:
        raise InputError(f"{len(sentences)} sentences cannot be put into a page; from 1 to {MOST_SENTENCES} can.")
    store, begin = StateStore(models, time_limit=time_limit), time.monotonic()
    read = [
        (SearchSettings(name, accuracy, beam, word_beam), as_sentence(given, models[name].config.language).words)
        for name, given in sentences
    ]
    for _, words in read:
        check_words(words, MOST_WORDS)
    room = sum(MOST_BYTES * max(FULL_LENGTH, len(words)) // FULL_LENGTH for _, words in read)
    title = f"dtg: {' '.join(read[0][1])}" + (f" and {len(read) - 1} more" if len(read) > 1 else "")
    for detailed in range(DETAILED, -1, -1):
        record: Record = {
            "search": read[0][0].options.title,
            "models": [model_record(name, models[name]) for name in dict.fromkeys(name for name, _ in sentences)],
            "sentences": [
                sentence_record(store, search, words, detailed, begin + time_limit) for search, words in read
            ],
        }
        html = single_page(title, json.dumps(record, ensure_ascii=False, separators=(",", ":")))
        if len(html.encode()) <= room:
            break
    return SavedPage(html)


def sentence_record(
    store: StateStore, search: SearchSettings, words: tuple[str, ...], detailed: int, deadline: float
) -> Record:
    """Everything that the page asks a server for."""
    tab = f"saved {search.model} {' '.join(words)}"
    records = []
    for count in range(1, len(words) + 1):
        if time.monotonic() > deadline:
            raise InputError("saving the page takes too long; a lower accuracy or a narrower beam is quicker.")
        so_far = words[:count]
        record = dict(store.word(tab, search, so_far))
        shown = range(min(detailed, len(record["hypotheses"])))
        record["next"] = [store.next_words(tab, search, so_far, None)]
        record["next"] += [store.next_words(tab, search, so_far, number) for number in shown]
        record["attention"] = [store.attention(tab, search, so_far, number) for number in shown]
        records.append(record)
    ending = store.ending(tab, search, words)
    return {"model": search.model, "text": " ".join(words), "words": list(words), "records": records, "ending": ending}
