"""What models are used for: surprisal and probabilities of sentences, and the tables they are written to."""

from dtg.scoring.marginal import Marginal
from dtg.scoring.proposal import Draws, Proposal
from dtg.scoring.scorer import Scorer
from dtg.scoring.surprisal import SentenceSurprisal
from dtg.search.options import BeamOptions
from dtg.text.sentence import Sentence

__all__ = ["BeamOptions", "Draws", "Marginal", "Proposal", "Scorer", "Sentence", "SentenceSurprisal"]
