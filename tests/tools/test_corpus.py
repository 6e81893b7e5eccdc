"""The free corpus: cleaning, sentences, what is left out, overlap with test sets, and building it again."""

from __future__ import annotations

import csv
import gzip
import json
import lzma
from itertools import pairwise
from pathlib import Path

import pytest

from dtg.text import split_words
from tests.real_data import data_file
from tools.corpus.__main__ import Duplicates, build
from tools.corpus.cleaning import clean_novel, clean_textbook, direct_quotes, straighten
from tools.corpus.overlap import LONG, TestSets, plain, read_test_sets, treebank_sentences
from tools.corpus.sentences import split_paragraph, why_not
from tools.corpus.shards import SourceRecord, parsing_order
from tools.corpus.sources import SOURCES, read_amalgum, read_gutenberg, read_openstax
from tools.free_treebank import is_chosen, write_free


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("“Oh,” she said—“no!”", '"Oh," she said -- "no!"'),
        ("It’s the dogs’ bone", "It's the dogs' bone"),
        ("As he took his seat--", "As he took his seat --"),
        ("a----b", "a -- b"),
        ("pp. 365–374, mind–body, so – no", "pp. 365-374, mind-body, so -- no"),
        ("He did . . . not", "He did ... not"),
        ("He left.... She stayed…", "He left... She stayed..."),
        ("soft\u00adhyphen, no\u00a0break,  two", "softhyphen, no break, two"),
        ("5 − 3", "5 - 3"),
    ],
)
def test_typography_is_plain(given: str, expected: str) -> None:
    assert straighten(given) == expected
    assert straighten(expected) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('"Yes," he said, "no."', "“Yes,” he said, “no.”"),
        ('He said -- "no" -- and left.', "He said -- “no” -- and left."),
        ('("a", "b")', "(“a”, “b”)"),
        ('x"y"z', "x“y”z"),  # nothing beside them tells: they alternate
    ],
)
def test_quotes_get_a_direction(given: str, expected: str) -> None:
    assert direct_quotes(given) == expected


@pytest.mark.parametrize(
    ("paragraph", "sentences"),
    [
        ('"Do you think so?" she asked. "Yes!" He left.', ['"Do you think so?" she asked.', '"Yes!"', "He left."]),
        ('"Why?" Mary asked. "Go."', ['"Why?" Mary asked.', '"Go."']),
        ('"I came. I saw." He slept.', ['"I came.', 'I saw."', "He slept."]),
        ("Mr. A. Smith came at 5 p.m. to town. Dr. No left.", ["Mr. A. Smith came at 5 p.m. to town.", "Dr. No left."]),
        ("Well ... I think so. No... She left.", ["Well ... I think so.", "No...", "She left."]),
        ("He came. (She did not.) They left.", ["He came.", "(She did not.)", "They left."]),
        ("It was I. He left.", ["It was I.", "He left."]),
        ("In 1990. 20 men came.", ["In 1990.", "20 men came."]),
        ("no mark at all", ["no mark at all"]),
    ],
)  # fmt: skip
def test_sentences_of_a_paragraph(paragraph: str, sentences: list[str]) -> None:
    assert list(split_paragraph(paragraph)) == sentences
    assert " ".join(split_paragraph(paragraph)) == paragraph  # nothing is lost


def test_markup_of_novels() -> None:
    assert clean_novel("[Illustration: a horse] The _old_ man[3] slept.[*]") == "The old man slept."
    assert clean_novel("[8] Cúchulinn = pron. Ku-hullin.") is None
    assert clean_novel("[Transcriber's note: spelling kept.]") is None
    assert clean_novel('"Out [of here]," he said.') == '"Out [of here]," he said.'


def test_markup_of_textbooks() -> None:
    assert clean_textbook("Soils vary ([[link]](#fig-ch31_02_03)).") == "Soils vary."
    assert clean_textbook("Soils vary (see [[link]](#a) and others).") == "Soils vary."
    assert clean_textbook("Watch the [video][2] now.") == "Watch the video now."
    assert clean_textbook("Many agree (McAdams & Constantian, 1983; Murray et al., 1938).") == "Many agree."
    assert clean_textbook("1. Mix it (twice) well.") == "Mix it (twice) well."
    assert clean_textbook("Kihlstrom, J. F. (2013). Neuro-hypnotism. Cortex, 49, 365–374.") is None
    assert clean_textbook("Marx, Karl. 1973 [1844]. Contribution. Cambridge: Cambridge University Press.") is None
    kept = clean_textbook("It is so. [[link]](#fig) shows it. [[link]](#tab) Why?")
    assert kept is not None
    assert [why(text) for text in split_paragraph(kept)] == [None, "refers to a figure", "refers to a figure"]


def why(text: str, *, is_prose: bool = True) -> str | None:
    return why_not(text, [word.text for word in split_words(text)], is_prose=is_prose)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The old man slept.", None),
        ('"Sure."', None),
        ('"Better?" he asked.', None),
        ("20 men came.", None),
        ("its x-components, we use this.", "fragment"),
        ("Bone tissue can be described as .", "fragment"),
        ("CHAPTER THE FIRST", "fragment"),
        ("HE CAME TO TOWN.", "not English prose"),
        ("12, 13, 14.", "not English prose"),
        ("Je ne sais pas si vous avez raison mon ami.", "not English prose"),
        ("The force F = ma is large.", "markup or formula"),
        ("Visit www.openstax.org now.", "markup or formula"),
        ("The ratio of β-catenin rose.", "other script"),
        ("The man said " + "and then " * 60 + "left.", "longer than 100 words"),
    ],
)
def test_what_is_left_out(text: str, reason: str | None) -> None:
    assert why(text) == reason


def test_web_texts_keep_headings() -> None:
    assert why("Getting around town", is_prose=False) is None
    assert why("defined as , , and .", is_prose=False) == "fragment"
    assert why("blood pressure and , most importantly , age .", is_prose=False) is None


def test_words_do_not_depend_on_the_tokenisation() -> None:
    assert (
        plain("He did n't see the dog 's bone .")
        == plain("He didn't see the dog’s bone.")
        == plain("he DIDN'T see the dog's bone")
    )


def test_overlap_against_every_run_of_words() -> None:
    sentence = " ".join(f"w{number}" for number in range(20))
    tests = TestSets()
    tests.add("long", [sentence])
    tests.add("short", ["The cat sat on mats.", "Yes, sir."])
    words = sentence.split()
    for start in range(20):
        for end in range(start + 1, 21):
            found = tests.share(["x", *words[start:end], "y"])
            assert (found == "long") == (end - start >= LONG)
    assert tests.share(plain("the CAT sat on mats")) == "short"
    assert tests.share(plain("so the cat sat on mats")) is None
    assert tests.share(plain("Yes sir")) is None  # too short to mean anything
    assert tests.touch(["x", *words[3:11]]) == "long"
    assert tests.touch(["x", *words[3:10]]) is None
    assert tests.sentences == {"long": 1, "short": 2}


def test_long_sentences_once_short_ones_often() -> None:
    seen = Duplicates()
    assert [seen.add(["a"] * 6) for _ in range(3)] == [False, True, True]
    assert [seen.add(["yes", "sir"]) for _ in range(21)] == [False] * 20 + [True]


@pytest.mark.parametrize(("total", "wanted"), [(10, 3), (10, 10), (7, 1), (1, 1), (1000, 37)])
def test_samples_are_even(total: int, wanted: int) -> None:
    chosen = [place for place in range(total) if is_chosen(place, total, wanted)]
    assert len(chosen) == wanted
    gaps = [after - before for before, after in pairwise(chosen)]
    assert not gaps or max(gaps) - min(gaps) <= 1


AMALGUM = [
    ("AMALGUM_bio_miles-1", ["A", "well-known", "man", "’s", "dog", "[", "8", "]", "."]),
    ("AMALGUM_whow_cake-1", ["Bake", "the", "cake", "."]),
    ("AMALGUM_news_town-1", ["We", "cannot", "say", "that", "."]),
    ("AMALGUM_news_town-2", ["The", "keys", "to", "the", "cabinet", "are", "here", "."]),
]
NOVELS = [
    "The free man slept.",
    "He woke. “Why?” she asked.",
    "",
    "The other book.",
    "Still the other.",
    "",
    "Free again!",
    "",
]
BOOKS = [("PG1", "1955", 1, 2), ("PG2", "1956", 4, 2), ("PG3", "1900", 7, 1)]


def make_data(folder: Path) -> Path:
    """A small folder like DTG_DATA."""
    for name in ("amalgum", "text", "ud", "sg", "blimp", "rt"):
        (folder / name).mkdir()
    blocks = [
        f"# sent_id = {name}\n" + "".join(f"{place}\t{word}" + "\t_" * 8 + "\n" for place, word in enumerate(words, 1))
        for name, words in AMALGUM
    ]
    with gzip.open(folder / "amalgum" / "amalgum-train.conllu.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(blocks) + "\n")
    with lzma.open(folder / "text" / "openstax-textbooks.txt.xz", "wt", encoding="utf-8") as file:
        file.write(
            "Cells are small. Soils vary ([[link]](#fig)).\n\nCells are small.\n\nThe keys to the cabinet are here.\n"
        )
    with lzma.open(folder / "text" / "gutenberg-fiction.txt.xz", "wt", encoding="utf-8") as file:
        file.write("\n".join(NOVELS) + "\n")
    with (folder / "text" / "gutenberg-fiction.books.tsv").open("w", encoding="utf-8") as file:
        file.write("idno\ttitle\tauthor\tdied\tsubgenre\tfirst_line\tparagraphs\twords\n")
        for name, died, first, count in BOOKS:
            file.write(f'{name}\t"The\tSomeone\t{died}\tx\t{first}\t{count}\t9\n')
    suite = {
        "items": [{"conditions": [{"regions": [{"content": "The keys to the"}, {"content": "cabinet are here ."}]}]}]
    }
    (folder / "sg" / "number.json").write_text(json.dumps(suite))
    (folder / "blimp" / "a.jsonl").write_text(json.dumps({"sentence_good": "A cat.", "sentence_bad": "A cats."}) + "\n")
    with (folder / "rt" / "naturalstories.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["story", "sentence", "word"], ["1", "1", "If"], ["1", "1", "so."]])
    with (folder / "rt" / "sap_classic_gp.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["unambiguous", "ambiguous"], ["A.", "B."]])
    for name in ("ewt-ud-dev", "ewt-ud-test", "gum-ud-train", "gum-ud-dev", "gum-ud-test"):
        (folder / "ud" / f"en_{name}.conllu").write_text("1\tYes" + "\t_" * 8 + "\n\n")
    return folder


def test_sources_give_what_is_free(tmp_path: Path) -> None:
    data = make_data(tmp_path)
    found = list(read_amalgum(data / "amalgum" / "amalgum-train.conllu.gz"))
    assert [sentence.document for sentence in found] == ["AMALGUM_bio_miles", "AMALGUM_news_town", "AMALGUM_news_town"]
    assert found[0].words == ("A", "well", "-", "known", "man", "'s", "dog", ".")
    assert found[1].words == ("We", "can", "not", "say", "that", ".")
    novels = [
        (sentence.document, sentence.text) for sentence in read_gutenberg(data / "text" / "gutenberg-fiction.txt.xz")
    ]
    assert novels == [
        ("gutenberg_PG1", "The free man slept."),
        ("gutenberg_PG1", "He woke."),
        ("gutenberg_PG1", '"Why?" she asked.'),
        ("gutenberg_PG3", "Free again!"),
    ]
    assert [sentence.document for sentence in read_openstax(data / "text" / "openstax-textbooks.txt.xz")] == [
        "openstax_1", "openstax_1", "openstax_2", "openstax_3",
    ]  # fmt: skip


def test_building_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    data, out = make_data(tmp_path / "data"), tmp_path / "out"
    manifest = build(data, out, shard_words=8)
    amalgum, openstax, gutenberg = (SourceRecord.load(out, source.name) for source in SOURCES)
    assert amalgum is not None and openstax is not None and gutenberg is not None
    assert amalgum.left_out == {"in SyntaxGym": 1}
    assert openstax.left_out == {"in SyntaxGym": 1}
    assert (amalgum.sentences, openstax.sentences, gutenberg.sentences) == (2, 3, 4)
    assert manifest["sentences"] == 9
    names = (out / "order.txt").read_text().split()
    assert sorted(names) == sorted(path.name for path in (out / "shards").iterdir())
    assert [list(treebank_sentences(out / "shards" / name)) for name in ("amalgum-000.conllu", "amalgum-001.conllu")] == [
        ["A well - known man 's dog ."], ["We can not say that ."],
    ]  # fmt: skip
    before = {path.name: path.read_bytes() for path in out.rglob("*.*") if path.is_file()}
    (out / "gutenberg.json").unlink()  # as if it had been interrupted there
    (out / "shards" / "openstax-000.conllu").write_text("damaged")
    assert build(data, out, shard_words=8) == manifest
    assert {path.name: path.read_bytes() for path in out.rglob("*.*") if path.is_file()} == before


def test_missing_data_are_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"amalgum-train\.conllu\.gz is missing; .*docs/data\.md"):
        build(tmp_path, tmp_path / "out", shard_words=8)


def test_any_beginning_has_all_sources() -> None:
    records = [SourceRecord(name, "", "", {}) for name in ("a", "b")]
    for record, count in zip(records, (2, 6), strict=True):
        record.shards = {f"{record.name}-{number:03}.conllu": {} for number in range(count)}
    records[0].shards["a-dev.conllu"] = {}
    order = parsing_order(records)
    assert order[0] == "a-dev.conllu"
    assert "".join(name[0] for name in order[1:]) == "babbbabb"


def test_free_treebank(tmp_path: Path) -> None:
    data, out = make_data(tmp_path) / "amalgum" / "amalgum-train.conllu.gz", tmp_path / "free.conllu"
    assert write_free(data, out, {"news": 1}, None) == {"bio": (1, 1), "news": (1, 2)}
    assert list(treebank_sentences(out)) == ["A well-known man ’s dog [ 8 ] .", "The keys to the cabinet are here ."]
    with pytest.raises(SystemExit, match="no free genre whow; it has bio, news"):
        write_free(data, out, {"whow": 1}, None)
    other = tmp_path / "other.conllu"
    other.write_text("# sent_id = GUM_x-1\n1\tYes" + "\t_" * 8 + "\n\n")
    with pytest.raises(SystemExit, match="a file of AMALGUM is expected"):
        write_free(other, out, {}, None)


@pytest.mark.slow
def test_real_test_sets_find_themselves() -> None:
    data = data_file("sg/mvrr.json").parents[1]
    tests = read_test_sets(data)
    assert tests.sentences["BLiMP"] == 134_000
    gold = next(
        text for text in treebank_sentences(data / "ud" / "en_ewt-ud-test.conllu") if len(plain(text)) > LONG + 2
    )
    assert tests.share(plain("so " + gold)) == "EWT dev, test"
