"""Reading times: tables are read as people write them, and the regression finds what was put into made-up times."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dtg
from dtg.errors import InputError
from dtg.evaluation.tasks.reading.analysis import TimesAnalysis
from dtg.evaluation.tasks.reading.data import ReadingTimes, read_times
from dtg.evaluation.tasks.reading.frequencies import bundled_frequencies, normalized, read_frequencies
from dtg.evaluation.tasks.reading.imported import align, read_surprisals
from dtg.evaluation.tasks.reading.pages import shift_warnings
from dtg.evaluation.tasks.reading.predictors import CONTROLS, controls_of, make_design, with_lags, without_values
from dtg.evaluation.tasks.reading.regression import Gain, folds_of, gain, held_out, least_squares, sign_flip
from dtg.evaluation.tasks.reading.task import ReadingTask
from dtg.language_model import LanguageModel
from tests.explore.conftest import small_model as make_small
from tests.real_data import data_file

WORDS = "the old dog that we saw in a garden barked at every large cat , but nobody there really heard it".split()


def write(path: Path, rows: list[dict[str, Any]], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def made_up(seed: int = 0, stories: int = 4, sentences: int = 12, out_of_step: int = 0) -> list[dict[str, Any]]:
    """Stories of made-up sentences; times depend on a made-up surprisal, on the word before's, and on length."""
    chance = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for story in range(1, stories + 1):
        of_story: list[dict[str, Any]] = []
        for sentence in range(1, sentences + 1):
            words = [str(word) for word in chance.choice(WORDS, 9)]
            words[-1] += "."
            for position, word in enumerate(words, start=1):
                surprisal = float(chance.gamma(4.0, 2.0))
                of_story.append(
                    {"story": story, "sentence": sentence, "position": position, "word": word, "surprisal": surprisal}
                )
        for place, row in enumerate(of_story):
            before = of_story[place - 1]["surprisal"] if place else 0.0
            length = len(row["word"].strip(".,"))
            time = 250 + 5 * row["surprisal"] + 3 * before + 8 * length + float(chance.normal(0, 15))
            row["true_time"] = time
        for place, row in enumerate(of_story):
            other = place + out_of_step
            row["time"] = round(of_story[other]["true_time"], 3) if 0 <= other < len(of_story) else ""
        rows += of_story
    return rows


def as_surprisals(path: Path, rows: list[dict[str, Any]]) -> Path:
    return write(path, [{"word": row["word"], "surprisal": row["surprisal"], "unit": "bits"} for row in rows])


def test_the_regression_finds_what_was_put_in(tmp_path: Path) -> None:
    rows = made_up()
    data = write(
        tmp_path / "times.csv", [{key: row[key] for key in ("story", "sentence", "word", "time")} for row in rows]
    )
    table = as_surprisals(tmp_path / "other.csv", rows)
    found = dtg.evaluate(None, "reading", data, surprisals=table, raw=True, out=tmp_path / "out", progress=False)
    ms = found.content["ms_per_bit"]
    assert ms["word"] == pytest.approx(5.0, abs=0.5)
    assert ms["after_1"] == pytest.approx(3.0, abs=0.5)
    assert ms["after_2"] == pytest.approx(0.0, abs=0.5)
    assert found.content["coefficients"]["length"]["value"] == pytest.approx(8.0, abs=1.0)
    surprisal = found.content["sets"]["surprisal"]["baseline"]
    assert surprisal["interval"][0] > 0.1 and surprisal["p"] < 0.001 and surprisal["folds_above_0"] == 4
    assert found.content["warnings"] == []
    assert found.content["shifts"]["0"] > max(found.content["shifts"]["-1"], found.content["shifts"]["+1"])
    assert found.content["words"] == len(rows) - 2 * 4  # the first two words of each story have none before them
    for name in ("words.csv", "results.json", "results.md", "gains.svg", "predictors.svg"):
        assert (tmp_path / "out" / name).is_file()
    spread = float(np.std([row["surprisal"] for row in rows]))
    at_the_word, one_later, _ = found.content["effects"]["surprisal"]
    assert at_the_word["value"] == pytest.approx(5.0 * spread, rel=0.1)
    assert one_later["value"] == pytest.approx(3.0 * spread, rel=0.15)
    assert not (tmp_path / "out" / "mixed_model.R").exists()
    again = dtg.evaluation.Results.read(tmp_path / "out", ReadingTask)
    assert [metric.value.value for metric in again.metrics] == [metric.value.value for metric in found.metrics]
    assert len(again.items) == len(rows)


def test_a_control_that_no_word_has(tmp_path: Path) -> None:
    rows = [{**row, "word": row["word"].replace(",", "so")} for row in made_up(stories=2)]
    data, table = write(tmp_path / "times.csv", rows), as_surprisals(tmp_path / "other.csv", rows)
    found = dtg.evaluate(None, "reading", data, surprisals=table, out=tmp_path / "out", progress=False)
    assert found.content["coefficients"]["punctuation_before"] == {"value": 0.0, "error": 0.0}
    assert "punctuation_before" not in found.content["effects"] and "length" in found.content["effects"]
    page = (tmp_path / "out" / "results.md").read_text(encoding="utf-8")
    assert "| punctuation_before | the same everywhere |" in page


def test_log_times_and_ends(tmp_path: Path) -> None:
    rows = made_up()
    data = write(tmp_path / "times.csv", rows)
    table = as_surprisals(tmp_path / "other.csv", rows)
    found = dtg.evaluate(None, "reading", data, surprisals=table, without_ends=True, progress=False)
    assert found.content["words"] == len(rows) - 2 * 4 - 4 * 12
    assert found.content["ms_per_bit"]["word"] == pytest.approx(5.0, abs=0.7)
    assert "ends of sentences" in " ".join(found.content["notes"])


@pytest.mark.parametrize(("moved", "warned"), [(1, "word after"), (-1, "word before"), (0, None)])
def test_a_table_out_of_step_is_noticed(moved: int, warned: str | None, tmp_path: Path) -> None:
    """With the time of the word after beside each word, a time depends on a word that has not been shown."""
    rows = made_up(out_of_step=moved)
    data, table = write(tmp_path / "times.csv", rows), as_surprisals(tmp_path / "other.csv", rows)
    found = dtg.evaluate(None, "reading", data, surprisals=table, raw=True, progress=False)
    assert (warned is None) == (found.content["warnings"] == [])
    if warned is not None:
        assert warned in found.content["warnings"][0] and warned in repr(found)


def test_two_models_are_compared_word_by_word(tmp_path: Path) -> None:
    rows = made_up()
    data, good = write(tmp_path / "times.csv", rows), as_surprisals(tmp_path / "good.csv", rows)
    chance = np.random.default_rng(1)
    noisy = [{**row, "surprisal": row["surprisal"] + float(chance.normal(0, 4))} for row in rows]
    bad = as_surprisals(tmp_path / "bad.csv", noisy)
    first = dtg.evaluate(None, "reading", data, surprisals=good, raw=True, out=tmp_path / "good", progress=False)
    second = dtg.evaluate(None, "reading", data, surprisals=bad, raw=True, out=tmp_path / "bad", progress=False)
    compared = first.compare(second).content["against"]["gains"]
    difference = compared["surprisal of good − surprisal of bad"]
    a, b = (one.content["sets"]["surprisal"]["log_likelihood"] for one in (first, second))
    assert difference["gain"] == pytest.approx(a - b, rel=1e-9)
    assert difference["interval"][0] > 0 and difference["p"] < 0.01
    assert abs(compared["surprisal of bad beyond that of good"]["gain"]) < 0.01
    from_folder = dtg.evaluate(
        None, "reading", data, surprisals=good, raw=True, against=tmp_path / "bad", progress=False
    )
    assert from_folder.content["against"]["gains"] == compared
    other = write(tmp_path / "fewer.csv", rows[:-9])
    with pytest.raises(InputError, match="not those of"):
        fewer = as_surprisals(tmp_path / "f.csv", rows[:-9])
        dtg.evaluate(None, "reading", other, progress=False, surprisals=fewer, against=tmp_path / "bad")


def test_held_out_likelihood_by_hand() -> None:
    """Against a fit written out with normal equations, fold by fold."""
    chance = np.random.default_rng(2)
    count = 40
    values = {"a": list(chance.normal(size=count)), "b": list(chance.normal(size=count))}
    times = [
        3.0 + 2 * values["a"][i] - values["b"][i - 1] * (i > 0) + float(chance.normal(0, 0.5)) for i in range(count)
    ]
    folds = [i * 4 // count for i in range(count)]
    design = make_design(
        values, times, ["t"] * count, [str(i // 5) for i in range(count)], list(range(1, count + 1)), folds
    )
    assert design.place.tolist() == list(range(2, count))
    found = held_out(design, ("a", "b"))
    matrix = np.array(
        [[1.0, i + 1, *(values[name][i - lag] for name in "ab" for lag in range(3))] for i in range(2, count)]
    )
    y, fold = np.array(times[2:]), np.array(folds[2:])
    for number in range(4):
        train, test = fold != number, fold == number
        beta = np.linalg.solve(matrix[train].T @ matrix[train], matrix[train].T @ y[train])
        residuals = y[train] - matrix[train] @ beta
        spread = float((residuals**2).sum() / (train.sum() - matrix.shape[1]))
        error = y[test] - matrix[test] @ beta
        expected = [-0.5 * math.log(2 * math.pi * spread) - e * e / (2 * spread) for e in error.tolist()]
        np.testing.assert_allclose(found[test], expected, rtol=1e-8)


def test_standard_errors() -> None:
    chance = np.random.default_rng(3)
    matrix = np.stack([np.ones(200), chance.normal(size=200), np.zeros(200)], axis=1)
    times = 2 + 3 * matrix[:, 1] + chance.normal(size=200)
    values, errors, residuals = least_squares(matrix, times)
    assert values[2] == 0.0  # a column that says nothing
    covariance = np.linalg.inv(matrix[:, :2].T @ matrix[:, :2]) * float(residuals @ residuals) / 198
    np.testing.assert_allclose(errors[:2], np.sqrt(np.diag(covariance)), rtol=1e-8)


def test_permutation_test() -> None:
    chance = np.random.default_rng(4)
    assert sign_flip(np.full(30, 0.5)) < 0.001
    assert sign_flip(np.array([1.0, -1.0, 2.0, -2.0])) == 1.0
    # Few values: against all sign patterns.
    values = chance.normal(0.4, 1.0, size=8)
    every = [
        abs(sum(v * (1 if number >> place & 1 else -1) for place, v in enumerate(values))) for number in range(256)
    ]
    exact = sum(total >= abs(values.sum()) - 1e-12 for total in every) / 256
    assert sign_flip(values) == pytest.approx(exact, abs=0.02)
    under_chance = [sign_flip(chance.normal(size=40), permutations=400) for _ in range(60)]
    assert 0.3 < np.mean(under_chance) < 0.7


def test_a_predictor_of_pure_noise_does_not_gain() -> None:
    """It loses what its three coefficients cost, about 1.5 nats in all; one with an effect gains what it is worth."""
    noise, effects = list[Gain](), list[Gain]()
    for seed in range(20):
        chance = np.random.default_rng(seed)
        count = 600
        sentences = [str(place // 12) for place in range(count)]
        values = {name: list(chance.normal(size=count)) for name in ("control", "noise", "effect")}
        times = 5.8 + 0.05 * np.array(values["control"]) + 0.04 * np.array(values["effect"])
        times += 0.1 * chance.normal(size=count) + 0.03 * chance.normal(size=50).repeat(12)
        positions = [place % 12 + 1 for place in range(count)]
        folds = folds_of(["one"] * count, sentences)
        design = make_design(values, list(times), sentences, sentences, positions, folds)
        base = held_out(design, ["control"])
        for name, found in (("noise", noise), ("effect", effects)):
            found.append(gain(held_out(design, ["control", name]) - base, design.item, design.fold))
    assert sum(one.p < 0.05 and one.value > 0 for one in noise) <= 2
    assert -3 < np.mean([one.value * one.words for one in noise]) < -0.5
    truth = float(np.mean([one.value for one in effects]))
    assert truth == pytest.approx(0.5 * math.log(1 + 0.04**2 / (0.1**2 + 0.03**2)), rel=0.15)
    assert sum(one.p < 0.05 and one.value > 0 for one in effects) == 20
    assert sum(one.low <= truth <= one.high for one in effects) >= 17


def test_gains_and_folds() -> None:
    differences = np.array([1.0, 3.0, -1.0, 1.0])
    found = gain(differences, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    assert (found.value, found.folds, found.of_folds, found.words) == (1.0, 1, 2, 4)
    assert found.low <= found.value <= found.high
    every = [str(number) for number in range(73)]
    assert folds_of(["b", "b", "a", "c"], every[:4]) == [0, 0, 1, 2]
    assert len(set(folds_of(every, every))) == 10
    assert folds_of(every[:20], every[:20])[:4] == [0, 0, 1, 1]
    assert folds_of(["one"] * 4, ["1", "1", "2", "3"]) == [0, 0, 1, 2]  # a single story: by sentences


def named(**columns: str) -> dict[Any, Any]:
    return dict(columns)


def test_natural_stories_columns_are_recognised(tmp_path: Path) -> None:
    rows = [{"story": 1, "zone": 1, "sentence": 1, "word_index": 1, "word": "If", "gmean_rt": "", "mean_rt": 1}]
    rows += [{**rows[0], "zone": 2, "word_index": 2, "word": "you", "gmean_rt": 340.5}]
    found = read_times(write(tmp_path / "ns.csv", rows), {})
    assert found.columns["time"] == ("gmean_rt",) and found.columns["position"] == ("word_index",)
    assert [one.time for one in found.words] == [None, 340.5]
    assert found.words[1].log_time == pytest.approx(math.log(340.5))


def participants(tmp_path: Path, rows: list[dict[str, Any]], name: str = "by_reader.tsv") -> Path:
    """The same rows read by three people, in a TSV whose columns have other names, sentences in another order for each."""
    chance = np.random.default_rng(5)
    long = []
    for who, slower in (("ann", 0), ("bob", 60), ("cy", -40)):
        stories = sorted({row["story"] for row in rows}, reverse=who == "bob")
        for story in stories:
            for row in rows:
                if row["story"] == story:
                    time = row["true_time"] + slower + float(chance.normal(0, 10))
                    long.append(
                        {
                            "Subj": who,
                            "Passage": f"p{story}",
                            "sent_no": row["sentence"],
                            "W.Num": row["position"],
                            "Form": row["word"],
                            "RT.ms": round(time, 2),
                        }
                    )
    long[5]["RT.ms"] = 20  # too short
    long[6]["RT.ms"] = 9000  # too long
    long[7]["RT.ms"] = "NA"
    return write(tmp_path / name, long, "\t")


def test_times_of_single_participants(tmp_path: Path) -> None:
    rows = made_up()
    path = participants(tmp_path, rows)
    columns = named(
        word="Form", time="RT.ms", story="Passage", sentence="sent_no", position="W.Num", participant="Subj"
    )
    found = read_times(path, columns)
    assert [one.word for one in found.words] == [row["word"] for row in rows]
    assert len(found.readings) == 3 * len(rows) - 3
    one = found.words[20]
    times = [reading.time for reading in found.readings if reading.word == 20]
    assert one.readings == 3 and one.time == pytest.approx(sum(times) / 3)
    assert one.log_time == pytest.approx(sum(map(math.log, times)) / 3)
    assert "word Form, time RT.ms, story Passage" in found.notes[0]
    assert "3 participants" in found.notes[1] and "2 readings shorter than 100" in found.notes[2]
    assert read_times(path, {}).words == found.words  # all of these names are known
    unnamed = write(tmp_path / "unnamed.csv", [{"Wort": "Hunde", "Tempo": 300}])
    with pytest.raises(
        InputError, match=r"known by its name to have the reading times .as gmean_rt, time.*It has: Wort, Tempo"
    ):
        read_times(unnamed, named(word="Wort"))
    with pytest.raises(InputError, match=r"no column 'Word'. It has"):
        read_times(path, named(word="Word"))


def test_a_mixed_model_script_is_written(tmp_path: Path) -> None:
    rows = made_up()
    path = participants(tmp_path, rows)
    columns = named(
        word="Form", time="RT.ms", story="Passage", sentence="sent_no", position="W.Num", participant="Subj"
    )
    table = as_surprisals(tmp_path / "other.csv", rows)
    out = tmp_path / "out"
    found = dtg.evaluate(None, "reading", path, surprisals=table, raw=True, out=out, progress=False, **columns)
    assert found.content["ms_per_bit"]["word"] == pytest.approx(5.0, abs=0.5)
    script = (out / "mixed_model.R").read_text(encoding="utf-8")
    assert "lmer(" in script and '"surprisal"' in script and "d$y <- d$time" in script
    with (out / "readings.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 3 * len(rows) - 3


def test_without_sentences_full_stops_end_them(tmp_path: Path) -> None:
    rows = [{"word": word, "rt": 300 + place} for place, word in enumerate("A dog barks. It “stops.” We go".split())]
    found = read_times(write(tmp_path / "plain.csv", rows), {})
    assert [(one.sentence, one.position) for one in found.words] == [
        ("1", 1),
        ("1", 2),
        ("1", 3),
        ("2", 1),
        ("2", 2),
        ("3", 1),
        ("3", 2),
    ]
    assert "no column of sentences" in found.notes[-1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"word": ""}, "is empty"),
        ({"time": -3}, "above 0"),
        ({"time": "fast"}, "must be a number"),
        ({"position": 1}, "a second time.* Columns: story, sentence, position, word, time"),
    ],
)
def test_what_is_wrong_in_a_table_is_said(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    rows = [{"story": 1, "sentence": 1, "position": n, "word": f"w{n}", "time": 300} for n in (1, 2, 3)]
    rows[1] |= change
    with pytest.raises(InputError, match=rf"line 3: .*{message}"):
        read_times(write(tmp_path / "bad.csv", rows), {})


STIMULI = [
    {"item": 1, "condition": "a", "sentence": "The horse raced past the barn fell."},
    {"item": 1, "condition": "b", "sentence": "The horse fell."},
    {"item": 2, "condition": "a", "sentence": "Nobody read this."},
]
TIMES: list[dict[str, Any]] = [
    {"subject": who, "item": 1, "condition": condition, "position": place, "RT": 300 + 10 * place}
    for who in ("ann", "bob")
    for condition, places in (("a", (2, 3, 7)), ("b", (1, 2, 3)))
    for place in places
]


@pytest.mark.parametrize("first", [0, 1])
def test_sentences_may_be_in_a_table_of_their_own(first: int, tmp_path: Path) -> None:
    times = [{**row, "position": row["position"] - 1 + first} for row in TIMES]
    stimuli = write(tmp_path / "stimuli.csv", STIMULI)
    found = read_times(write(tmp_path / "times.csv", times), {}, sentences=stimuli)
    assert [one.word for one in found.words] == "The horse raced past the barn fell. The horse fell.".split()
    assert [one.sentence for one in found.words] == ["1 a"] * 7 + ["1 b"] * 3
    timed = [None, 320, 330, None, None, None, 370, 310, 320, 330]
    assert [one.time for one in found.words] == timed
    assert len(found.readings) == 12 and {one.story for one in found.words} == {"1"}
    assert "words are those of 2 sentences in stimuli.csv, by item and condition." in found.notes
    assert ("position counts words from 0." in found.notes) == (first == 0)


@pytest.mark.parametrize(
    ("times", "stimuli", "message"),
    [
        ([{**TIMES[0], "position": 9}], STIMULI, r"times.csv, line 2: position is '9'; .* has words 1 to 7"),
        ([{**TIMES[0], "item": 3}], STIMULI, "line 2: .*stimuli.csv has no sentence with item 3, condition a"),
        (
            TIMES,
            [*STIMULI, {**STIMULI[0], "sentence": "Another one."}],
            "line 5: there are two sentences with item 1, condition a",
        ),
        (TIMES, [{"number": 1, "sentence": "Dogs bark."}], "have no column in common"),
        (TIMES, [{"item": 1, "condition": "a", "words": "Dogs bark."}], "no column called sentence, text"),
        ([{"item": 1, "RT": 300}], STIMULI, "no column with the number of the word in its sentence"),
    ],
)
def test_tables_that_do_not_belong_together(times: list[Any], stimuli: list[Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_times(write(tmp_path / "times.csv", times), {}, sentences=write(tmp_path / "stimuli.csv", stimuli))


def test_surprisals_may_be_of_more_sentences_in_another_order(tmp_path: Path) -> None:
    table = [
        {"sentence_id": number, "word": token, "surprisal": 10 * number + place, "unit": "bits"}
        for number, text in enumerate(("Cats run .", "Dogs bark .", "A dog fell .", "<END>"), start=1)
        for place, token in enumerate(text.split(), start=1)
    ]
    words = ["A", "dog", "fell.", "Dogs", "bark."]
    sentences = ["x"] * 3 + ["y"] * 2
    path = write(tmp_path / "words.csv", table)
    (found,) = read_surprisals(path, words, sentences=sentences)
    assert found.columns["surprisal"] == (31, 32, 33 + 34, 21, 22 + 23)
    parsed = write(tmp_path / "parsed.csv", [{**row, "best_parse": row["surprisal"]} for row in table])
    (found,) = read_surprisals(parsed, words, ["best_parse"], sentences=sentences)
    assert found.columns["best_parse"] == (31, 32, 34, 21, 23)  # that after the last token
    with pytest.raises(InputError, match=r"not the words|the same text"):
        read_surprisals(path, words, sentences=["x"] * 5)  # no such sentence
    for row in table:
        del row["sentence_id"]
    with pytest.raises(InputError, match=r"not the words|the same text"):
        read_surprisals(write(tmp_path / "unnumbered.csv", table), words, sentences=sentences)


def test_words_that_were_skipped_have_no_time(tmp_path: Path) -> None:
    rows = [{"Text_ID": 1, "Word": word, "IA_FIRST_RUN_DWELL_TIME": time} for word, time in (("A", 0), ("dog.", 200))]
    found = read_times(write(tmp_path / "eyes.csv", rows), {})
    assert [one.time for one in found.words] == [None, 200]
    assert "1 time of 0 ms counted as missing: words that were skipped." in found.notes


def test_readers_of_a_text_may_have_left_out_words(tmp_path: Path) -> None:
    words = "A dog barks. It stops. We go.".split()
    rows = [
        {"subject": who, "text_id": 1, "text_pos": place, "word": word, "time": 300 + place}
        for who, left_out in (("ann", {2}), ("bob", {4, 5}))  # ends of sentences among them
        for place, word in enumerate(words)
        if place not in left_out
    ]
    found = read_times(write(tmp_path / "brown.csv", rows[::-1]), {})
    assert [one.word for one in found.words] == words
    assert [one.sentence for one in found.words] == ["1", "1", "1", "2", "2", "3", "3"]
    assert [one.position for one in found.words] == [1, 2, 3, 1, 2, 1, 2]
    assert [one.readings for one in found.words] == [2, 2, 1, 2, 1, 1, 2]


def test_versions_of_a_sentence_need_several_columns(tmp_path: Path) -> None:
    rows = [
        {"item": 1, "kind": cond, "who": "a", "position": n, "word": word, "time": 300}
        for cond, words in (("x", ["Dogs", "bark."]), ("y", ["Cats", "bark."]))
        for n, word in enumerate(words, start=1)
    ]
    path = write(tmp_path / "versions.csv", rows)
    with pytest.raises(
        InputError, match=r"such as item and condition. kind would tell them apart. Columns: item, kind"
    ):
        read_times(path, {"sentence": "item"})
    found = read_times(path, {"sentence": "item,kind"})
    assert [one.sentence for one in found.words] == ["1 x", "1 x", "1 y", "1 y"]


def test_controls() -> None:
    rows = ReadingTimes(
        tuple(
            read
            for read in (
                _word("1", "1", 1, "“Dogs"),
                _word("1", "1", 2, "bark."),
                _word("1", "2", 1, "well-known"),
                _word("1", "2", 2, "--"),
            )
        ),
        (),
        {},
        (),
    )
    found = controls_of(rows.words, bundled_frequencies())
    assert found["length"] == [4.0, 4.0, 10.0, 0.0]
    assert found["punctuation_before"] == [1.0, 0.0, 0.0, 1.0]
    assert found["punctuation_after"] == [0.0, 1.0, 0.0, 0.0]
    assert found["sentence_start"] == [1.0, 0.0, 1.0, 0.0]
    assert found["sentence_end"] == [0.0, 1.0, 0.0, 1.0]


def _word(story: str, sentence: str, position: int, word: str) -> Any:
    from dtg.evaluation.tasks.reading.collected import TimedWord

    return TimedWord(story, sentence, position, word, 300.0, math.log(300), 1)


def test_frequencies(tmp_path: Path) -> None:
    ours = bundled_frequencies()
    assert len(ours.counts) == 50_000
    assert ours.log_frequency("The") > ours.log_frequency("dog.") > ours.log_frequency("zyzzyva") == 0.0
    assert ours.log_frequency("dog-cat") == min(ours.log_frequency("dog"), ours.log_frequency("cat"))
    assert ours.knows("dogs") and not ours.knows("zyzzyva")
    assert normalized("don’t,") == "don't"
    own = read_frequencies(write(tmp_path / "own.csv", [{"word": "Dog", "count": 3}, {"word": "dog", "count": 4}]))
    assert own.log_frequency("dog") == 3.0
    with pytest.raises(InputError, match="columns word and count"):
        read_frequencies(write(tmp_path / "bad.csv", [{"form": "Dog", "count": 3}]))


def test_surprisals_of_another_tool(tmp_path: Path) -> None:
    words = ["The", "dog", "barks.", "It's", "off"]
    tokens = ["<s>", "The", " dog", " bar", "ks", ".", " It", "'s off", "</s>"]
    rows = [{"token": token, "logprob": "" if token in ("<s>", "The") else -1.0} for token in tokens]
    (found,) = read_surprisals(write(tmp_path / "gpt.tool.csv", rows), words)
    assert found.name == "gpt.tool"
    bit = 1 / math.log(2)
    assert found.columns["surprisal"][0] is None and found.columns["surprisal"][4] is None
    assert found.columns["surprisal"][1:4] == pytest.approx((bit, 3 * bit, 2 * bit))
    assert "1 token reaching into the next word" in found.notes[0]
    assert without_values(found.columns["surprisal"]) == {0, 1, 2, 4, 5, 6}
    with pytest.raises(InputError, match=r"end before word 4 of 5"):
        read_surprisals(write(tmp_path / "short.csv", rows[:-2]), words)
    with pytest.raises(InputError, match="comes after the last"):
        read_surprisals(write(tmp_path / "long.csv", [*rows, {"token": "more", "logprob": -1}]), words)
    with pytest.raises(InputError, match=r"not the words that were read. They differ first at token 3"):
        read_surprisals(
            write(tmp_path / "other.csv", [{**row, "token": str(row["token"]).replace("dog", "cat")} for row in rows]),
            words,
        )
    with pytest.raises(InputError, match="bits or nats"):
        read_surprisals(write(tmp_path / "unit.csv", [{"word": word, "surprisal": 1} for word in words]), words)


def test_several_models_in_one_table(tmp_path: Path) -> None:
    rows = [
        {"word": w, "surprisal": s, "unit": "nats", "model": m, "entropy": 1}
        for m, s in (("a", 1), ("b", 2))
        for w in ("x", "y")
    ]
    first, second = read_surprisals(write(tmp_path / "both.csv", rows), ["x", "y"], ["entropy", "stack_depth"])
    assert (first.name, second.name) == ("a", "b")
    assert second.columns["surprisal"] == pytest.approx((2 / math.log(2),) * 2)
    assert set(first.columns) == {"surprisal", "entropy"}


def test_alignment_ignores_spaces_and_marks() -> None:
    places, notes = align(Path("t"), ["▁a", "▁", "b", "Ġcd"], ["a", "bc", "d"])
    assert places == [0, 1, 1, 1]
    assert "1 token reaching" in notes[0]


@pytest.fixture(scope="module")
def small_model() -> LanguageModel:
    bundled = dtg.load("txl-mini")
    return LanguageModel(make_small("dtg", bundled), "small")


def test_a_model_reads_the_words(tmp_path: Path, small_model: LanguageModel) -> None:
    rows = made_up(stories=2, sentences=4)
    data = write(tmp_path / "times.csv", rows)
    found = dtg.evaluate(
        small_model, "reading", data, beam=4, columns=["reductions"], out=tmp_path / "out", progress=False
    )
    texts: dict[tuple[int, int], list[str]] = {}
    for row in rows:
        texts.setdefault((row["story"], row["sentence"]), []).append(row["word"])
    expected = [
        value
        for words in texts.values()
        for value in small_model.surprisal([" ".join(words)], beam=4)[0].to_frame(base="2", per="whitespace")[
            "surprisal"
        ]
    ]
    assert [item["surprisal"] for item in found.items] == pytest.approx(expected)
    assert "+ reductions" in found.content["sets"] and "all columns" in found.content["sets"]
    assert {"held_out_baseline", "held_out_surprisal", "held_out_all", "reductions"} <= set(found.items[5])
    content = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert content["settings"]["columns"] == ["reductions"]
    again = dtg.evaluate(
        small_model, "reading", data, beam=4, columns=["reductions"], out=tmp_path / "out", progress=False
    )
    assert again.content == found.content  # stored, and not computed again


def test_regions_have_the_columns_of_their_words(tmp_path: Path, small_model: LanguageModel) -> None:
    """Surprisals and reductions add up, kept multiplies, entropy and the best parse are those after the last word."""
    rows = made_up(stories=2, sentences=10)
    regions = [
        {**row, "position": row["position"] // 3 + 1, "word": " ".join(one["word"] for one in rows[place : place + 3])}
        for place, row in enumerate(rows)
        if place % 3 == 0
    ]
    how: dict[str, Any] = {"beam": 4, "columns": ["reductions", "best_parse"], "progress": False}
    words = dtg.evaluate(small_model, "reading", write(tmp_path / "words.csv", rows), **how).items
    found = dtg.evaluate(small_model, "reading", write(tmp_path / "regions.csv", regions), **how).items
    for place, one in enumerate(found):
        some = words[3 * place : 3 * place + 3]
        for name in ("surprisal", "lexical", "structural", "entropy_reduction", "reductions", "length"):
            assert one[name] == pytest.approx(sum(word[name] for word in some), abs=1e-9)
        assert one["kept"] == pytest.approx(math.prod(word["kept"] for word in some))
        assert [one[name] for name in ("entropy", "stack_depth", "best_parse")] == [
            some[-1][name] for name in ("entropy", "stack_depth", "best_parse")
        ]
        assert one["log_frequency"] == pytest.approx(sum(word["log_frequency"] for word in some) / 3)


def test_too_few_words_are_said(tmp_path: Path) -> None:
    rows = made_up(stories=2, sentences=1)
    data, table = write(tmp_path / "times.csv", rows), as_surprisals(tmp_path / "other.csv", rows)
    with pytest.raises(InputError, match="18 words with a time; at least 50"):
        dtg.evaluate(None, "reading", data, surprisals=table, progress=False)
    rows = made_up(stories=1, sentences=6)
    gaps = [{**row, "surprisal": row["surprisal"] if place % 4 else ""} for place, row in enumerate(rows)]
    data, table = write(tmp_path / "gaps.csv", rows), as_surprisals(tmp_path / "holes.csv", gaps)
    with pytest.raises(InputError, match="at least 50 words in 2 folds"):
        dtg.evaluate(None, "reading", data, surprisals=table, progress=False)


def test_lags_stay_in_their_text() -> None:
    count = 12
    values = {name: [float(place) for place in range(count)] for name in (*CONTROLS, "surprisal")}
    texts = ["a"] * 6 + ["b"] * 6
    design = make_design(values, [300.0] * count, texts, texts, [1] * count, [0] * 6 + [1] * 6)
    assert design.place.tolist() == [2, 3, 4, 5, 8, 9, 10, 11]
    assert with_lags("surprisal") == ("surprisal", "surprisal_1", "surprisal_2")
    assert design.columns["surprisal_2"].tolist() == [0, 1, 2, 3, 6, 7, 8, 9]
    later = make_design(values, [300.0] * count, texts, texts, [1] * count, [0] * 6 + [1] * 6, shift=1)
    assert later.place.tolist() == [1, 2, 3, 4, 7, 8, 9, 10]  # the last word of a text has none after it
    assert later.columns["surprisal"].tolist() == [2, 3, 4, 5, 8, 9, 10, 11]


def test_the_published_means_of_natural_stories_are_out_of_step() -> None:
    times, other = data_file("rt/naturalstories.csv"), data_file("rt/naturalstories.gpt3.csv.gz")
    for column, is_wrong in (("gmean_rt", False), ("gmean_rt_as_published", True)):
        task = ReadingTask.of(times, time=column, surprisals=other)
        ready = task.ready()
        assert ready is not None
        found = TimesAnalysis(task.words(ready.rows), True, True)
        assert (found.shifts()["+1"] > found.shifts()["0"]) == is_wrong
        assert (len(shift_warnings(found.misalignment())) == 1) == is_wrong
