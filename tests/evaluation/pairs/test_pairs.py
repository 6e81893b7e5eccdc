"""Reading BLiMP's files: what is read, what is chosen, what is told, and how errors name what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from dtg.errors import InputError
from dtg.evaluation.tasks.pairs.blimp_files import Pair, read_pairs
from dtg.evaluation.tasks.pairs.paradigms import ALL_PARADIGMS, PARADIGMS, title
from tests.evaluation.pairs.making import record, write
from tests.real_data import data_file


def test_a_line_is_a_pair(tmp_path: Path) -> None:
    (paradigm,) = read_pairs(write(tmp_path / "any.jsonl", record(7))).paradigms
    assert paradigm.pairs == (
        Pair(
            uid="wh_island",
            pair_id="7",
            field="syntax",
            term="island_effects",
            good="Who sleeps 7 times?",
            bad="Whom sleeps 7 times?",
            one_prefix=True,
            two_prefix=False,
        ),
    )
    assert (paradigm.uid, paradigm.field, paradigm.phenomenon, paradigm.available) == (
        "wh_island",
        "syntax",
        "island_effects",
        1,
    )


def test_labels_are_repaired_and_the_hugging_face_names_are_read(tmp_path: Path) -> None:
    own = record(term="x", field="syntax/semantics", linguistics_term="s-selection", pair_id=3)
    for key in ("pairID", "one_prefix_method", "two_prefix_method"):
        del own[key]
    (pair,) = read_pairs(write(tmp_path / "own.jsonl", own)).pairs
    assert (pair.pair_id, pair.field, pair.term, pair.phenomenon) == (
        "3",
        "syntax_semantics",
        "s-selection",
        "argument_structure",
    )
    assert pair.one_prefix is None and pair.two_prefix is None


def test_pairs_belong_together_by_their_uid_whatever_the_files_are_called(tmp_path: Path) -> None:
    write(tmp_path / "b.jsonl", record(2), record(0, "wh_question"))
    write(tmp_path / "a.jsonl", record(1), record(0))
    (tmp_path / "README").write_text("not a file of pairs")
    found = read_pairs(tmp_path)
    assert [(pair.uid, pair.pair_id) for pair in found.pairs] == [
        ("wh_island", "1"),
        ("wh_island", "0"),
        ("wh_island", "2"),
        ("wh_question", "0"),
    ]


def test_first_pairs_and_shares(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", *(record(n, uid) for uid in ("wh_island", "causative") for n in range(100)))

    def ids(uid: str, **amount: float) -> list[int]:
        (paradigm,) = read_pairs(file, paradigms=[uid], **amount).paradigms  # type: ignore[arg-type]
        assert paradigm.available == 100
        return [int(pair.pair_id) for pair in paradigm.pairs]

    assert ids("wh_island", limit=3) == [0, 1, 2]
    tenth, half = ids("wh_island", share=0.1), ids("wh_island", share=0.5)
    assert tenth == [2, 7, 9, 12, 40, 45, 53, 77, 80, 93]  # on every machine
    assert {*tenth} < {*half} and len(half) == 50
    assert ids("wh_island", share=0.1) == tenth != ids("wh_island", share=0.1, seed=1)
    assert ids("causative", share=0.1) != tenth
    assert len(ids("causative", share=0.001)) == 1  # never none
    assert ids("causative", share=1) == list(range(100))


def test_what_a_reader_of_results_should_know_is_told(tmp_path: Path) -> None:
    write(tmp_path / "own.jsonl", record(0, "my_own"), record(1, "my_own", sentence_good="Same.", sentence_bad="Same."))
    records = [record(n, uid) for uid in ALL_PARADIGMS - {"wh_island"} for n in range(2)]
    again = {"sentence_good": "Who sleeps 1 times?", "sentence_bad": "Whom sleeps 1 times?"}
    write(tmp_path / "rest.jsonl", *records, record(2, "causative", **again))
    assert read_pairs(tmp_path, limit=3).notes[:5] == (
        "1 of BLiMP's 67 paradigms are missing, so that totals are not those of BLiMP: wh_island.",
        "not among BLiMP's 67 paradigms, and counted all the same: my_own.",
        "paradigms have from 2 to 3 pairs, so the mean over pairs is not that over paradigms.",
        "both sentences are the same, so that no model can be right, in 1 of the pairs: my_own 1.",
        "1 of the pairs repeat the sentences of another of their paradigm: causative 2 (as 1).",
    )
    (short,) = read_pairs(tmp_path, limit=3).notes[5:]
    assert short.startswith("fewer than the first 3 pairs are there of: adjunct_island (2), anaphor_gender")
    assert short.endswith("determiner_noun_agreement_2 (2) and 56 more.")
    assert read_pairs(tmp_path, limit=2, paradigms=["causative"]).notes == ()  # what was not asked for is not missing


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "a JSON object is expected, but the line is empty"),
        (b"\xff", "byte 1 of the line is 0xff, which is not UTF-8"),
        (b"{'UID': 1}", "at character 2 this goes wrong: .* The line begins \"{'UID': 1}\""),
        (b"[1]", r"a JSON object is expected, but this is \[1\]"),
        (b"{}", '"field" .a text. is missing; the keys are none'),
        ({"sentence_bad": " "}, '"sentence_bad" should be a text that is not empty, but is " "'),
        ({"UID": 3}, '"UID" should be a text that is not empty, but is 3'),
        ({"pairID": True}, '"pairID" should be a text or a whole number, but is true'),
        ({"one_prefix_method": "no"}, '"one_prefix_method" should be true or false, but is "no"'),
        ({"pairID": "0"}, "pair 0 of wh_island was in .*a.jsonl, line 1 already; a pair must be there once"),
        ({"field": "magic"}, "field magic .* are expected to be those of the pairs of wh_island before it, syntax"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: bytes | dict[str, object], reason: str) -> None:
    written = line if isinstance(line, bytes) else json.dumps({**record(1), **line}).encode()
    path = write(tmp_path / "a.jsonl", record(0))
    path.write_bytes(path.read_bytes() + written + b"\n")
    with pytest.raises(InputError, match=rf"cannot read .*a\.jsonl, line 2: .*{reason}") as error:
        read_pairs(tmp_path)
    assert len(str(error.value).splitlines()) == 2  # and what to do


def test_unknown_names_are_all_listed_with_what_is_near(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", record(0), record(0, "npi_present_1"))
    with pytest.raises(InputError) as error:
        read_pairs(tmp_path, paradigms=["wh_iland", "wh_island", "causative", "zzz"])
    assert str(error.value) == (
        f"not all paradigms named are in {tmp_path}, which has 2: for 'wh_iland' you may mean wh_island; 'causative' is one "
        "of BLiMP's, but is not there; 'zzz' is like none of them.\nKnown: npi_present_1, wh_island."
    )


def test_other_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file or folder"):
        read_pairs(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"no file in it ends in \.jsonl\. BLiMP has 67"):
        read_pairs(tmp_path)
    (tmp_path / "data").mkdir()
    file = write(tmp_path / "data" / "a.jsonl")
    with pytest.raises(InputError, match=r"There are some in .*data: pass that"):
        read_pairs(tmp_path)
    with pytest.raises(InputError, match="there are no pairs in it"):
        read_pairs(file)
    with pytest.raises(InputError, match="not both"):
        read_pairs(file, limit=3, share=0.5)
    with pytest.raises(InputError, match="at least 1"):
        read_pairs(file, limit=0)
    with pytest.raises(InputError, match=r"a share of 1\.5 .* at most 1"):
        read_pairs(file, share=1.5)
    with pytest.raises(InputError, match="name at least one"):
        read_pairs(write(file, record(0)), paradigms=[])


def test_blimp_itself() -> None:
    found = read_pairs(data_file("blimp/wh_island.jsonl").parent)
    assert {paradigm.uid for paradigm in found.paradigms} == ALL_PARADIGMS and len(found.paradigms) == 67
    assert all(len(paradigm.pairs) == paradigm.available == 1000 for paradigm in found.paradigms)
    assert all(paradigm.uid in PARADIGMS[paradigm.phenomenon] for paradigm in found.paradigms)
    # Warstadt et al. 2020, Table 1
    assert Counter(title(paradigm.phenomenon) for paradigm in found.paradigms) == {
        "anaphor agreement": 2,
        "argument structure": 9,
        "binding": 7,
        "control/raising": 5,
        "determiner-noun agreement": 8,
        "ellipsis": 2,
        "filler-gap dependency": 7,
        "irregular forms": 2,
        "island effects": 8,
        "NPI licensing": 7,
        "quantifiers": 4,
        "subject-verb agreement": 6,
    }
    assert Counter(paradigm.field for paradigm in found.paradigms) == {
        "morphology": 18,
        "semantics": 9,
        "syntax": 26,
        "syntax_semantics": 14,
    }
    assert (
        sum(pair.one_prefix is True for pair in found.pairs)
        == sum(pair.two_prefix is True for pair in found.pairs)
        == 20_000
    )
    (note,) = found.notes
    assert "in 7 of the pairs: passive_1 324, passive_1 810, principle_A_case_2 105" in note


def test_reading_and_counting_needs_no_torch() -> None:
    modules = "dtg.evaluation.tasks.pairs.blimp_files, dtg.evaluation.tasks.pairs.scored, dtg.evaluation.rendering"
    code = f"import sys, {modules}; assert 'torch' not in sys.modules and 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
