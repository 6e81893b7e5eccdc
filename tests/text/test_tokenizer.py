"""Words to pieces: every word comes back, and only its first piece begins a word."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from sentencepiece import SentencePieceTrainer

from dtg.errors import InputError, TokenizerError
from dtg.text import Tokenizer
from dtg.text.tokenizer_training import count_words, sample_words
from tests.text.treebanks import WORDS

TEXT = [word for place, word in enumerate(WORDS) for _ in range(3 * place + 1)] + ["naïve", "co-operate", "10 000"] * 9


@cache
def trained() -> Tokenizer:
    return Tokenizer.train(TEXT, 330)


@pytest.fixture
def tokenizer() -> Tokenizer:
    return trained()


@given(st.text(min_size=1))
@example("a\u2581b")
@example("\u2581")
@example("\u2581the")
@example("\u200b")
@example("10 000")
@example(" ")
@example("\U0001f469\u200d\U0001f680")
@example("e\u0301\u0323")
@example("\x00\x1b\x7f")
@example("\t\r\n")
@example("<s>")
@example("<0x41>")
@example("\u2585\u2047")
@example("\ufeff")
@example("\ue000\U0010ffff\ufffd")
@example("the" * 5_000)
def test_words_come_back_and_begin_once(word: str) -> None:
    tokenizer = trained()  # hypothesis does not mix with fixtures
    ids = tokenizer.encode(word)
    assert tokenizer.decode(ids) == word.replace(" ", "\u00a0")
    assert tokenizer.starts_word[list(ids)].tolist() == [True] + [False] * (len(ids) - 1)


def test_starts_word_is_what_the_pieces_say(tokenizer: Tokenizer) -> None:
    pieces = [tokenizer.piece(id) for id in range(tokenizer.size)]
    assert tokenizer.starts_word.tolist() == [piece.startswith("\u2581") for piece in pieces]
    assert tokenizer.starts_word.dtype == torch.bool
    assert pieces[tokenizer.root] == "<s>"
    assert pieces[tokenizer.pad] == "<pad>"
    assert "\u2581cat" in pieces


def test_a_literal_word_mark_is_spelt_in_bytes(tokenizer: Tokenizer) -> None:
    pieces = [tokenizer.piece(id) for id in tokenizer.encode("a\u2581")]
    assert pieces == ["\u2581", "<0x61>", "<0xE2>", "<0x96>", "<0x81>"]


def test_all_words_as_one_by_one(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode_all(TEXT) == [tokenizer.encode(word) for word in TEXT]


def test_several_words_decode_with_spaces(tokenizer: Tokenizer) -> None:
    ids = [id for word in ("the", "naïve", "cat") for id in tokenizer.encode(word)]
    assert tokenizer.decode(ids) == "the naïve cat"
    assert tokenizer.decode([]) == ""


def test_bytes_that_spell_nothing_are_replaced(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode("\U0001f389")[:-1]) == "\ufffd"


def test_words_without_pieces_are_errors(tokenizer: Tokenizer) -> None:
    with pytest.raises(TokenizerError, match="the word '' has no subwords"):
        tokenizer.encode("")
    with pytest.raises(TokenizerError, match="surrogate"):
        tokenizer.encode("a\ud800")
    with pytest.raises(TokenizerError, match="there is no subword -1; the vocabulary has subwords 0 to"):
        tokenizer.piece(-1)


def test_training_does_not_depend_on_order(tokenizer: Tokenizer) -> None:
    assert Tokenizer.train(sorted(TEXT, reverse=True), 330).hash == tokenizer.hash
    assert Tokenizer.train(TEXT + ["dog"] * 300, 330).hash != tokenizer.hash
    assert tokenizer.size <= 330


def test_training_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    Tokenizer.train(TEXT, 330)
    assert capfd.readouterr() == ("", "")


def test_training_accounts_for_words(tokenizer: Tokenizer) -> None:
    other = Tokenizer.train([*TEXT, "a\u2581b", "x" * 2_000, ""], 330)
    assert other.hash == tokenizer.hash
    assert other.training is not None
    assert other.training.words_left_out == 3
    assert other.training.words == other.training.sampled_words == len(TEXT)
    assert other.training.distinct_words == len(set(TEXT))


def test_a_vocabulary_that_is_too_small_is_an_error() -> None:
    with pytest.raises(TokenizerError, match=r"a vocabulary of 261 subwords is too small .* Ask for more than 2\d\d"):
        Tokenizer.train(TEXT, 261)
    with pytest.raises(TokenizerError, match="there are no words"):
        Tokenizer.train([], 300)


def test_counting_is_bounded_and_accounted_for() -> None:
    words = ["often"] * 50 + ["twice"] * 2 + [str(number) for number in range(100)] + ["often"]
    counts, let_go, left_out = count_words(words, limit=20)
    assert len(counts) <= 20
    assert counts["often"] == 51
    assert counts.total() + let_go == len(words)
    assert left_out == 0
    assert count_words(words)[0] == Counter(words)


@given(st.dictionaries(st.text(min_size=1), st.integers(1, 50), min_size=1), st.integers(1, 200))
def test_samples_are_even(counts: dict[str, int], limit: int) -> None:
    total = sum(counts.values())
    sample = Counter(sample_words(Counter(counts), limit))
    assert sample.total() == min(limit, total)
    for word, count in counts.items():
        assert abs(sample[word] - count * min(limit, total) / total) < 1


def test_save_and_load(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "pieces.model"
    tokenizer.save(path)
    loaded = Tokenizer.load(path)
    assert (loaded.hash, loaded.size, loaded.encode("naïve")) == (
        tokenizer.hash,
        tokenizer.size,
        tokenizer.encode("naïve"),
    )
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="does not exist"):
        tokenizer.save(tmp_path / "nowhere" / "pieces.model")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"byte_fallback": False}, "has no byte fallback"),
        ({"normalization_rule_name": "nmt_nfkc"}, "changes words"),
        ({"bos_id": -1}, "has no subword <s>"),
    ],
)
def test_models_that_do_not_fit_are_refused(tmp_path: Path, options: dict[str, Any], reason: str) -> None:
    fitting: dict[str, Any] = {
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "bos_id": 1,
        "vocab_size": 330,
    }
    SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT),
        model_prefix=str(tmp_path / "other"),
        hard_vocab_limit=False,
        minloglevel=2,
        **{**fitting, **options},
    )
    with pytest.raises(TokenizerError, match=reason):
        Tokenizer.load(tmp_path / "other.model")


def test_files_that_are_no_models_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.model").write_bytes(b"not a model")
    with pytest.raises(TokenizerError, match=r"bad\.model is not a SentencePiece model"):
        Tokenizer.load(tmp_path / "bad.model")
    with pytest.raises(TokenizerError, match="no such file"):
        Tokenizer.load(tmp_path / "absent.model")
