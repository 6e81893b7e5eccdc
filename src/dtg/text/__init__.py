"""Text to pieces: tokenizers, and corpora prepared for training."""

from dtg.text.corpus import Corpus
from dtg.text.inputs import ParsedText, PlainText
from dtg.text.prepare import DEFAULT_VOCABULARY, Prepared, Reading, prepare_corpus
from dtg.text.split import Split
from dtg.text.tokenizer import Tokenizer
from dtg.text.tokenizer_training import TokenizerTraining
from dtg.text.words import Word, split_words

__all__ = [
    "DEFAULT_VOCABULARY",
    "Corpus",
    "ParsedText",
    "PlainText",
    "Prepared",
    "Reading",
    "Split",
    "Tokenizer",
    "TokenizerTraining",
    "Word",
    "prepare_corpus",
    "split_words",
]
