"""`model.surprisal_table`: a frame of stimuli becomes a frame of words with the same columns beside them."""

from __future__ import annotations

import pandas
import pytest

import dtg
from dtg.errors import InputError


def test_a_frame_of_stimuli_becomes_one_of_words() -> None:
    model = dtg.load("dtg-mini")
    frame = pandas.DataFrame(
        {
            "item": [7, 8, 9],
            "sentence": ["Dogs bark.", None, "The dog barks."],
            "word": ["a", "b", "c"],
            "when": pandas.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03"]),
        },
        index=[5, 5, 2],
    )
    with pytest.warns(UserWarning, match="1 of 3 rows have no sentence"):
        table = model.surprisal_table(frame, beam=10, base="2")
    assert table["word"].tolist() == ["Dogs", "bark", ".", "The", "dog", "barks", "."]
    assert table["sentence_id"].tolist() == [1] * 3 + [3] * 4
    assert table["item"].tolist() == [7] * 3 + [9] * 4 and table["item"].dtype == "int64"
    assert table["when"].dtype == frame["when"].dtype and table["input_word"].tolist() == ["a"] * 3 + ["c"] * 4
    assert set(table["model"]) == {"dtg-mini"} and set(table["unit"]) == {"bits"} and set(table["beam"]) == {10}
    alone = model.surprisal(["Dogs bark.", "The dog barks."], beam=10)
    expected = pandas.concat([one.to_frame(base="2") for one in alone], ignore_index=True)
    assert table["surprisal"].to_numpy() == pytest.approx(expected["surprisal"].to_numpy(), abs=1e-4)
    with pytest.raises(InputError, match=r"no column 'text'\. It has: item, sentence, word, when"):
        model.surprisal_table(frame, column="text")
    with_end = model.surprisal_table(frame[:1], beam=10, end=True)
    assert with_end["word"].tolist() == ["Dogs", "bark", ".", "<END>"] and with_end["item"].tolist() == [7] * 4
