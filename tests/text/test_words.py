"""Plain text to words, as UD English has them."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtg.errors import InputError, MissingExtraError
from dtg.text import split_words
from dtg.text.words import NO_RULES, Word, agreement, split_sentences, word_rules
from dtg.trees import read_conllu
from tests.real_data import data_file


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don't know.", "I do n't know ."),
        ("It's the dogs' house, isn't it?", "It 's the dogs ' house , is n't it ?"),
        ("She can't, he won't, we'll gonna", "She ca n't , he wo n't , we 'll gon na"),
        ('"Mr. Smith" paid $3.50 (in cash)...', '" Mr. Smith " paid $ 3.50 ( in cash ) ...'),
        ("a well-known one", "a well - known one"),
        ("What?! *** no!!! (really)) << x", "What ?! *** no !!! ( really ) ) << x"),
        ("  two\n lines\t", "two lines"),
        ("", ""),
    ],
)
def test_words(text: str, words: str) -> None:
    pytest.importorskip("spacy")
    assert [word.text for word in split_words(text)] == words.split()


@given(st.text())
def test_words_cover_the_text(text: str) -> None:
    pytest.importorskip("spacy")
    words, end = split_words(text), 0
    for word in words:
        assert word == Word(text[word.start : word.end], word.start, word.end)
        assert word.text
        assert not text[end : word.start].strip()
        end = word.end
    assert not text[end:].strip()


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    word_rules.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"needs spaCy.*pip install '\.\[text\]'"):
        split_words("a b")
    word_rules.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), [("ud/en_ewt-ud-dev.conllu", 0.985), ("ud/en_gum-ud-dev.conllu", 0.995)])
def test_f1_on_treebanks(name: str, expected: float) -> None:
    pytest.importorskip("spacy")
    both = found = gold = 0
    for tree in read_conllu(data_file(name)):
        assert tree.source is not None
        text = next(line for line in tree.source.comments if line.startswith("# text = ")).removeprefix("# text = ")
        spans, end = set(), 0
        for word in tree.words:
            start = text.index(word, end)
            end = start + len(word)
            spans.add((start, end))
        mine = {(word.start, word.end) for word in split_words(text)}
        both, found, gold = both + len(spans & mine), found + len(mine), gold + len(spans)
    assert 2 * both / (found + gold) > expected


def test_rules_of_other_languages() -> None:
    french = [word.text for word in split_words("L'homme n'est pas là.", "fr")]
    assert french == ["L'", "homme", "n'", "est", "pas", "là", "."]
    assert [word.text for word in split_words("L'homme")] == ["L'homme"]
    with pytest.raises(InputError, match="no rules to split text of language 'zz'"):
        split_words("a b", "zz")
    with pytest.raises(InputError, match="Give words, with spaces between them"):
        split_words("a b", NO_RULES)
    assert agreement("I don't.", ["I", "do", "n't", "."], "en") == 4
    assert agreement("L'homme du lac.", ["L'", "homme", "de", "le", "lac", "."], "fr") == 4
    assert agreement("L'homme du lac.", ["L'", "homme", "de", "le", "lac", "."], "en") == 2


def test_what_is_very_long_is_one_word_and_quick() -> None:
    """The time of spaCy's rules grows with the square of the length: 1.8 s for 4,000 brackets."""
    pytest.importorskip("spacy")
    for long in ("[" * 20_000, "don't(" * 2_000, "a.b/" * 3_000):
        text = f"I don't know {long} do you?\nYes."
        assert [word.text for word in split_words(text)] == [
            "I",
            "do",
            "n't",
            "know",
            long,
            "do",
            "you",
            "?",
            "Yes",
            ".",
        ]
        assert split_sentences(text) == [f"I don't know {long} do you?", "Yes."]
    short = "[" * 500
    assert len(split_words(short)) == 500
