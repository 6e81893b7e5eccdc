"""`SentenceSurprisal`: surprisal of every word of a sentence and what comes with it, in nats, also as a pandas frame.

    surprisals[i] = -log p(word i | words before it);  their sum and the end's are -log p(x)

docs/surprisal.md explains each quantity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dtg.errors import MissingExtraError
from dtg.scoring.columns import SURPRISAL_COLUMNS, Per, measure_columns, surprisal_rows
from dtg.tables.columns import NATS, UNITS, Base
from dtg.text.sentence import Sentence

if TYPE_CHECKING:
    import pandas


BAR_WIDTH = 120  # pixels, of the longest bar


@dataclass(frozen=True, slots=True, eq=False, repr=False)  # no ==: arrays compare element by element
class SentenceSurprisal:
    """The columns of one sentence; all arrays are (words,)."""

    sentence: Sentence
    surprisals: NDArray[np.float64]  # the first word has a value
    lexical: NDArray[np.float64]
    structural: NDArray[np.float64]  # lexical + structural = surprisals
    entropies: NDArray[np.float64]  # over the partial trees in the beam after the word
    entropy_reductions: NDArray[np.float64]  # the entropy before the word minus that after it
    stack_depths: NDArray[np.float64]  # expected: words on the stack, open phrases, or constituents
    kept: NDArray[np.float64]  # the share of the probability that the search kept at this word
    pieces: NDArray[np.int64]
    end_surprisal: float  # of <END>
    log_probability: float  # log p(x)
    measures: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)  # the columns asked for, by name

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            assert not isinstance(value, np.ndarray) or value.shape == (len(self.sentence),), one.name

    @property
    def words(self) -> tuple[str, ...]:
        return self.sentence.words

    def __repr__(self) -> str:
        text = self.sentence.text
        shown = text if len(text) <= 60 else f"{text[:59]}…"
        return f"<SentenceSurprisal {shown!r}: {len(self.sentence)} words, log p = {self.log_probability:.2f} nats>"

    def _repr_html_(self) -> str:
        """A row and a bar for each word, in bits, for notebooks."""
        bits = self.surprisals / NATS["2"]
        largest = max(float(bits.max()), 1e-9)
        rows = "".join(
            f"<tr><td>{escape(word)}</td><td>{value:.2f}</td>"
            f'<td style="text-align:left"><div style="background:#0072B2;height:0.8em;'
            f'width:{BAR_WIDTH * max(value, 0.0) / largest:.0f}px"></div></td><td>{kept:.1%}</td></tr>'
            for word, value, kept in zip(self.words, bits.tolist(), self.kept.tolist(), strict=True)
        )
        total = self.log_probability / NATS["2"]
        return (
            "<table><thead><tr><th>word</th><th>surprisal, bits</th><th></th><th>kept</th></tr></thead>"
            f"<tbody>{rows}</tbody></table><p>log₂ p(sentence) = {total:.2f}</p>"
        )

    def to_frame(
        self, *, base: Base = "e", per: Per = "word", end: bool = False, sentence_id: int = 1
    ) -> pandas.DataFrame:
        """The rows that `dtg surprisal` writes, in nats unless `base` is "2"; `frame.attrs["unit"]` says which.

        Several sentences: `pandas.concat(r.to_frame(sentence_id=i) for i, r in enumerate(results, start=1))`.
        """
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("pandas", "tables", "to_frame") from None
        names = tuple(self.measures)
        rows = surprisal_rows(self, sentence_id, base=base, per=per, end=end, measures=names)
        # <END> has no pieces and no place: whole numbers that may be missing have a type of their own in pandas.
        types: dict[type, Any] = {int: "Int64" if end else "int64", float: "float64", str: object}
        frame = pandas.DataFrame(
            {
                column.name: pandas.Series([row[place] for row in rows], dtype=types[column.kind])
                for place, column in enumerate((*SURPRISAL_COLUMNS, *measure_columns(names)))
            }
        )
        frame.attrs["unit"] = UNITS[base]
        return frame
