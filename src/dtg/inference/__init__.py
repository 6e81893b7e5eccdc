"""What models are used for: surprisal and probabilities of sentences, and the tables they are written to."""

from dtg.inference.sentence import Sentence
from dtg.inference.surprisal import SentenceSurprisal

__all__ = ["Sentence", "SentenceSurprisal"]
