"""spaCy pipelines as parsers, with a tiny one that has learned a sentence or two by heart."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from dtg.errors import InputError, MissingExtraError
from dtg.proposals.from_spacy import SpacyParser
from dtg.proposals.repair import RepairCounts
from dtg.scoring.proposal import Draws, Proposal, draw
from dtg.trees import DependencyTree, projectivize

WORDS = ("The", "don't-split-me", "barks", ".")  # spaCy's tokenizer would make more words of it
TREE = DependencyTree(WORDS, (2, 3, 0, 3), ("det", "nsubj", "root", "punct"))


@pytest.fixture(scope="module")
def pipeline() -> Any:
    spacy = pytest.importorskip("spacy")
    training, tokens = pytest.importorskip("spacy.training"), pytest.importorskip("spacy.tokens")
    nlp = spacy.blank("en")
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    nlp.add_pipe("ner").add_label("DOG")
    gold = tokens.Doc(nlp.vocab, words=list(WORDS), heads=[1, 2, 2, 2], deps=["det", "nsubj", "ROOT", "punct"])
    examples = [training.Example(tokens.Doc(nlp.vocab, words=list(WORDS)), gold)]
    nlp.initialize(lambda: examples)
    with nlp.select_pipes(enable="parser"):
        for _ in range(20):
            nlp.update(examples)
    return nlp


def test_the_words_are_taken_as_they_are(pipeline: Any) -> None:
    parser = SpacyParser(pipeline)
    assert isinstance(parser, Proposal)
    assert parser.parse(WORDS) == TREE
    assert list(parser.parse_all(words for words in [WORDS, WORDS[:3], WORDS])) == [
        TREE,
        DependencyTree(WORDS[:3], TREE.heads[:3], TREE.labels and TREE.labels[:3]),
        TREE,
    ]
    assert draw(parser, WORDS, 300, None) == Draws((TREE,))
    assert parser.repairs == RepairCounts(trees=5) and parser.repairs.lines() == []


def test_further_roots_are_attached_to_the_first(pipeline: Any) -> None:
    parser = SpacyParser(pipeline)
    (tree,) = draw(parser, WORDS + WORDS, 1, None).trees  # two sentences, for spaCy
    assert tree.heads == (2, 3, 0, 3, 6, 7, 3, 7)
    assert parser.repairs == RepairCounts(trees=1, with_several_roots=1, attached_roots=1)


def test_crossing_arcs_are_lifted(pipeline: Any) -> None:
    from spacy.tokens import Doc

    parser, crossing = SpacyParser(pipeline), (4, 0, 2, 2)
    doc = Doc(pipeline.vocab, words=list(WORDS), heads=[3, 1, 1, 1], deps=["a", "ROOT", "b", "c"])
    assert parser.tree_of(doc) == projectivize(DependencyTree(WORDS, crossing, ("a", "root", "b", "c"))).tree
    assert parser.repairs == RepairCounts(trees=1, with_crossing_arcs=1, lifted_arcs=1)


def test_a_pipeline_on_disk(pipeline: Any, tmp_path: Path) -> None:
    pipeline.to_disk(tmp_path / "pipeline")
    parser = SpacyParser.load(str(tmp_path / "pipeline"))
    assert parser.parse(WORDS) == TREE
    assert parser.pipeline.pipe_names == ["parser"]  # names of dogs are not looked for


def test_what_cannot_be_used(pipeline: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="not the text 'a b'"):
        SpacyParser(pipeline).parse("a b")
    with pytest.raises(InputError, match=r"'xx_none': .*Can't find model.*\nInstall one: python -m spacy download"):
        SpacyParser.load("xx_none")
    with pytest.raises(InputError, match=r"cannot load the spaCy pipeline.*meta\.json"):
        SpacyParser.load(str(tmp_path))
    with (
        pipeline.select_pipes(disable="parser"),
        pytest.raises(InputError, match="en_pipeline has no parser; it has ner"),
    ):
        SpacyParser(pipeline)
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"needs spaCy.*pip install '\.\[text\]'"):
        SpacyParser.load("en_core_web_sm")
