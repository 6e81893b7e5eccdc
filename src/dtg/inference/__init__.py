"""What models are used for: surprisal and probabilities of sentences, and the tables they are written to."""

from dtg.inference.marginal import Marginal
from dtg.inference.options import BeamOptions
from dtg.inference.proposals import Draws, Proposal
from dtg.inference.scorer import Scorer
from dtg.inference.sentence import Sentence
from dtg.inference.surprisal import SentenceSurprisal

__all__ = ["BeamOptions", "Draws", "Marginal", "Proposal", "Scorer", "Sentence", "SentenceSurprisal"]
