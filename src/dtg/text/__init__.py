"""Text to subwords: tokenizers, word splitting, and corpora prepared for training."""

from dtg.text.corpus import Corpus, Split
from dtg.text.prepare import (
    DEFAULT_VOCABULARY,
    ParsedText,
    PlainText,
    PreparedCorpus,
    prepare_corpus,
)
from dtg.text.tokenizer import Tokenizer
from dtg.text.tokenizer_training import TokenizerTraining
from dtg.text.words import Word, split_words
from dtg.trees import BracketReading, TreebankReading

__all__ = [
    "DEFAULT_VOCABULARY",
    "BracketReading",
    "Corpus",
    "ParsedText",
    "PlainText",
    "PreparedCorpus",
    "Split",
    "Tokenizer",
    "TokenizerTraining",
    "TreebankReading",
    "Word",
    "prepare_corpus",
    "split_words",
]
