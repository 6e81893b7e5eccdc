"""What a model computes on the way: rows, hidden states and attention weights of a derivation, and the words it
expects next.
"""

from dtg.analysis.derivation import AnalysedRow, Analysis, analyse, analyse_hypothesis
from dtg.analysis.next_words import NextWords, PredictedWord, predict_next_words

__all__ = [
    "AnalysedRow",
    "Analysis",
    "NextWords",
    "PredictedWord",
    "analyse",
    "analyse_hypothesis",
    "predict_next_words",
]
