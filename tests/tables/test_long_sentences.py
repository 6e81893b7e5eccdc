"""Sentences that are too long to be parsed: left out, or cut into parts that are the sentence when joined."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtg.errors import InputError, TokenizerError
from dtg.tables.items import Item
from dtg.tables.long_sentences import LengthLimit, split
from dtg.tables.unparsed import UnparsedSentence, from_sentence, parsed_conllu, read_unparsed_conllu
from dtg.text.sentence import Sentence
from dtg.trees import DependencyTree, read_conllu
from tests.parser.parsers import small_parser
from tests.scoring.test_marginal import tiny

# "du" is de + le; 5.1 is an empty node.
FRENCH = """# sent_id = f1
# text = Il vient du port , et part .
# note = kept
1\tIl\t_\tPRON\t_\t_\t0\troot\t_\t_
2\tvient\t_\tVERB\t_\t_\t1\tdep\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\t_\tADP\t_\t_\t2\tdep\t_\t_
4\tle\t_\tDET\t_\t_\t3\tdep\t_\t_
5\tport\t_\tNOUN\t_\t_\t2\tdep\t_\t_
5.1\tnul\t_\t_\t_\t_\t_\t_\t_\t_
6\t,\t_\tPUNCT\t_\t_\t2\tdep\t_\t_
7\tet\t_\tCCONJ\t_\t_\t2\tdep\t_\t_
8\tpart\t_\tVERB\t_\t_\t2\tdep\t_\t_
9\t.\t_\tPUNCT\t_\t_\t2\tdep\t_\t_

"""


def sentences(*texts: str) -> Iterator[Item[UnparsedSentence]]:
    for number, text in enumerate(texts, start=1):
        unparsed = from_sentence(Sentence.of_words(text.split()), "x.txt", number, (f"# sent_id = {number}",))
        yield Item(number, unparsed, text.encode())


def test_left_out_and_listed() -> None:
    limit = LengthLimit(3)
    assert [item.sentence_id for item in limit.apply(sentences("a b c", "a b c d", "a"))] == [1, 3]
    assert [str(one) for one in limit.found] == ["x.txt, sentence 2 (line 2): it has 4 words; the limit is 3."]


def test_cut_after_the_best_mark_within_reach() -> None:
    limit = LengthLimit(4, "split")
    parts = list(limit.apply(sentences("a b , c d e . f g h i j k")))
    assert [" ".join(item.content.words) for item in parts] == ["a b ,", "c d e .", "f g h i", "j k"]
    assert [item.content.source.comments[0] for item in parts] == [f"# sent_id = 1-{n}" for n in (1, 2, 3, 4)]
    assert len({item.written for item in parts}) == 4
    assert limit.found[0].reason == "it has 13 words; the limit is 4. It was cut into 4 parts."


@given(st.lists(st.sampled_from(["a", ".", ",", ";"]), min_size=1, max_size=40), st.integers(1, 12))
def test_parts_are_short_and_make_up_the_sentence(words: list[str], max_words: int) -> None:
    [item] = sentences(" ".join(words))
    parts = list(split(item.content, max_words))
    assert [word for part in parts for word in part.words] == words
    assert all(1 <= len(part.words) <= max_words for part in parts)


@pytest.mark.parametrize("max_words", range(2, 9))
def test_multiword_tokens_stay_whole_and_parts_are_conllu(max_words: int, tmp_path: Path) -> None:
    path, out = tmp_path / "f.conllu", tmp_path / "parts.conllu"
    path.write_text(FRENCH, encoding="utf-8")
    [item] = read_unparsed_conllu(path)
    parts = list(split(item.content, max_words))
    assert [word for part in parts for word in part.words] == list(item.content.words)
    holder = next(part for part in parts if "de" in part.words)
    assert "le" in holder.words
    written = [parsed_conllu(part, DependencyTree(part.words, tuple(range(len(part.words)))), []) for part in parts]
    out.write_text("".join(written), encoding="utf-8")
    trees = list(read_conllu(out))
    assert [tree.words for tree in trees] == [part.words for part in parts]
    place = holder.words.index("de") + 1
    assert f"\n{place}-{place + 1}\tdu\t" in written[parts.index(holder)]
    assert "# note = kept" in written[0] and all("# note" not in other for other in written[1:])
    assert written[0].count("# sent_id = f1-1") == 1 and "Il vient du port , et part" not in written[0]


def test_parsers_refuse_what_would_take_the_memory() -> None:
    parser = small_parser().eval()
    parser.max_words = 5
    assert len(parser.parse("a b c d e".split()).tree) == 5
    with pytest.raises(InputError, match=r"sentence 2 has 6 words .*; the limit is 5\."):
        list(parser.parse_all([["a"], ["a"] * 6]))


def test_words_of_very_many_subwords_are_refused_with_their_place() -> None:
    model, word = tiny("dtg"), "q" * 2_000
    with pytest.raises(
        TokenizerError, match=r"sentence 2, word 3 \('qqqq.*2,000 characters\) has .* subwords; at most 256"
    ):
        model.surprisal([["a"], ["a", "b", word]], beam=2)
    for ask in (
        lambda: model.begin(2).step(word),
        lambda: model.marginal([word]),
        lambda: model.analyse([word], beam=2),
    ):
        with pytest.raises(TokenizerError, match="subwords; at most 256"):
            ask()


def test_a_search_costs_by_the_word() -> None:
    """What a word costs depends on how deep the stack is, not on how many words came before."""
    model = tiny("dtg")
    words = "the dog sees a man and the cat barks at old houses".split() * 10
    state, rows = model.begin(5), [0]
    for number, word in enumerate(words, start=1):
        state = state.step(word)
        if number % 60 == 0:
            rows.append(state.search.rows_evaluated)
    first, second = rows[1] - rows[0], rows[2] - rows[1]
    assert second < 1.5 * first
