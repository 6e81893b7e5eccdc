"""Encoders: the words of sentences to vectors, whatever is then scored with them.

`vocabulary` makes tensors of words, `word_encoders` has the BiLSTM and the Transformer, `pretrained` encoders of the Hugging
Face kind, which read `subwords`. A new kind of encoder is a module of its own and a line in `create_encoder`.
"""

from dtg.parser.config import ParserConfig
from dtg.parser.encoder.pretrained import PretrainedEncoder
from dtg.parser.encoder.vocabulary import Vocabulary
from dtg.parser.encoder.word_encoders import BiLSTM, SentenceEncoder, Transformer


def create_encoder(config: ParserConfig, vocabulary: Vocabulary) -> SentenceEncoder:
    """The encoder that a configuration names, with random weights."""
    if config.encoder == "bilstm":
        return BiLSTM(config, vocabulary)
    if config.encoder == "transformer":
        return Transformer(config, vocabulary)
    return PretrainedEncoder(config, vocabulary)
