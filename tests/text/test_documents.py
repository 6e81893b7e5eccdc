"""Sentence ids, and where documents begin."""

from __future__ import annotations

import pytest

from dtg.text.documents import DocumentBoundaries, sentence_id
from dtg.trees.tree import Source


def source(*comments: str, path: str = "folder/a.conllu", sentence: int = 7) -> Source:
    return Source(path, sentence, 1, comments, (), ())


def begins(sources: list[Source]) -> list[bool]:
    boundaries = DocumentBoundaries()
    return [boundaries.begins(each, sentence_id(each)) for each in sources]


@pytest.mark.parametrize(
    ("comments", "expected"),
    [
        (("# newdoc", "# sent_id = weblog-1"), "weblog-1"),
        (("#sent_id=x y ",), "x y"),
        (("# text = sent_id = 3",), "a.conllu:7"),
        ((), "a.conllu:7"),
    ],
)
def test_sentence_ids(comments: tuple[str, ...], expected: str) -> None:
    assert sentence_id(source(*comments)) == expected


def test_ids_that_share_all_but_the_number_are_one_document() -> None:
    names = ["GUM_a-1", "GUM_a-2", "GUM_b-3", "x_20041117-0001", "x_20041117-0002", "wsj_0001.3", "wsj_0002.1"]
    sources = [source(f"# sent_id = {name}") for name in names]
    assert begins(sources) == [True, False, True, True, False, True, True]


def test_newdoc_rules_where_there_is_one() -> None:
    sources = [
        source("# newdoc id = d", "# sent_id = d-p1-1"),
        source("# sent_id = d-p2-1"),  # a paragraph, not a document
        source("# newdoc", "# sent_id = d-p2-2"),
    ]
    assert begins(sources) == [True, False, True]


def test_files_begin_documents_and_bare_numbers_do_not() -> None:
    sources = [source("# sent_id = 1"), source("# sent_id = 2"), source("# sent_id = 3", path="b.conllu"), source()]
    assert begins(sources) == [True, False, True, True]
    assert begins([source(sentence=1), source(sentence=2)]) == [True, False]
