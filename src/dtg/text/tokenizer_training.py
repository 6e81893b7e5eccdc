"""Trains a SentencePiece unigram model on words.

Words are counted, sampled evenly if there are very many, and given to SentencePiece one by one in a shuffled order that
depends on nothing but the counts: memory is bounded, and the order of the corpus does not matter. Giving each word once with
a count, or all in sorted order, would be simpler: docs/text.md says what SentencePiece makes of those.
"""

from __future__ import annotations

import io
import random
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sentencepiece import SentencePieceTrainer

from dtg.errors import TokenizerError

DISTINCT_WORDS = 1_000_000  # the most that are counted; beyond that, the rarest are dropped
SAMPLED_WORDS = 2_000_000  # the most that a model is trained on, which takes half a minute and 400 MB
COVERAGE = 0.9999  # of the characters of the text; rarer ones are spelt in bytes
LONGEST_WORD = 1_000  # characters; nothing is to be learnt from longer ones
# Line ends and tabs would break the trainer's input; it reserves U+2581 and U+2585; half surrogates are no text.
RESERVED = re.compile("[\0\t\n\r\u2581\u2585\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TokenizerTraining:
    """What went into a model, and what did not."""

    requested_size: int
    words: int  # counted
    distinct_words: int
    sampled_words: int  # that the model was trained on: all, or an even sample of them
    rare_words_let_go: int  # occurrences, to bound the memory
    words_left_out: int  # occurrences with reserved characters, or far too long


def train_model(words: Iterable[str], size: int) -> tuple[bytes, TokenizerTraining]:
    """A unigram model with byte fallback and no normalisation, of at most `size` subwords (fewer if the text is small)."""
    counts, let_go, left_out = count_words(words)
    if not counts:
        raise TokenizerError("there are no words to train a tokenizer on.")
    sampled, model = sample_words(counts), io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=iter(sampled),
            model_writer=model,
            model_type="unigram",
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=COVERAGE,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            add_dummy_prefix=True,
            pad_id=0,
            unk_id=1,
            bos_id=2,
            eos_id=3,
            num_threads=1,  # SentencePiece adds up thread by thread: another number of threads is another model
            minloglevel=2,
        )
    except RuntimeError as error:
        raise too_small(size, str(error)) from None
    return model.getvalue(), TokenizerTraining(size, counts.total(), len(counts), len(sampled), let_go, left_out)


def count_words(words: Iterable[str], limit: int = DISTINCT_WORDS) -> tuple[Counter[str], int, int]:
    """How often each word occurs, and how many occurrences were dropped as too rare and left out as unfit."""
    counts, let_go, left_out, floor = Counter[str](), 0, 0, 1
    for word in words:
        counts[word] += 1
        if len(counts) <= limit:
            continue
        while len(counts) > limit // 2:  # to half, so that it is not needed again soon
            let_go += sum(count for count in counts.values() if count <= floor)
            counts = Counter({word: count for word, count in counts.items() if count > floor})
            floor += 1
        floor = 1
    for word in [word for word in counts if is_unfit(word)]:
        left_out += counts.pop(word)
    return counts, let_go, left_out


def sample_words(counts: Counter[str], limit: int = SAMPLED_WORDS) -> list[str]:
    """The words as often as they occur, shuffled; of more than `limit`, an even sample of that size.

    Of the text sorted by word, a sample takes every n-th word, so that each is represented to within one occurrence.
    """
    total, seen, words = counts.total(), 0, list[str]()
    taken = min(total, limit)
    for word, count in sorted(counts.items()):
        before, seen = seen, seen + count
        words += [word] * (seen * taken // total - before * taken // total)
    random.Random(0).shuffle(words)
    return words


def is_unfit(word: str) -> bool:
    """True of what the trainer cannot be given."""
    return not 0 < len(word) <= LONGEST_WORD or bool(RESERVED.search(word))


def too_small(size: int, reason: str) -> TokenizerError:
    """SentencePiece's complaint, with the number in it that helps."""
    if found := re.search(r"smaller than required_chars\. \d+ vs (\d+)", reason):
        return TokenizerError(
            f"a vocabulary of {size} subwords is too small for this text: {found[1]} are needed for its characters, "
            f"the 256 bytes and the special symbols alone. Ask for more than {found[1]}."
        )
    return TokenizerError(f"SentencePiece could not train a tokenizer of {size} subwords on this text: {reason}")
