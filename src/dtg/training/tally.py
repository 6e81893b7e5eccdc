"""Sums of losses and counts over many predictions, and the perplexities that follow.

Perplexities are of words and tree together: log p(x, y) with `<END>` included, per word or per subword.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from dtg.losses import BatchLoss


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over batches. Tallies can be added: one is of a global batch, of a window of steps or of a whole split."""

    total: float = 0.0  # of -log p, in nats
    predicted: int = 0
    words: int = 0
    pieces: int = 0  # subwords
    padded: float = 0.0  # rows of padding, in units of predictions

    @classmethod
    def counting(cls, loss: BatchLoss) -> Tally:
        """The counts of one batch, without its total, which may still be on the device."""
        padded = loss.predicted * loss.padding / (1.0 - loss.padding) if loss.padding < 1.0 else 0.0
        return cls(0.0, loss.predicted, loss.words, loss.pieces, padded)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.total + other.total,
            self.predicted + other.predicted,
            self.words + other.words,
            self.pieces + other.pieces,
            self.padded + other.padded,
        )

    @property
    def loss(self) -> float:
        """Nats per prediction: what is minimised."""
        return self.total / self.predicted if self.predicted else 0.0

    @property
    def word_perplexity(self) -> float:
        return perplexity(self.total, self.words)

    @property
    def piece_perplexity(self) -> float:
        return perplexity(self.total, self.pieces)

    @property
    def padded_share(self) -> float:
        """Of all rows computed, the share that was padding."""
        return self.padded / (self.predicted + self.padded) if self.predicted else 0.0

    def summary(self) -> dict[str, float | int]:
        """What goes into the log."""
        return {
            "loss": self.loss,
            "word_perplexity": self.word_perplexity,
            "piece_perplexity": self.piece_perplexity,
            "predicted": self.predicted,
            "padded_share": self.padded_share,
        }

    def as_dict(self) -> dict[str, float | int]:
        return asdict(self)


def perplexity(total: float, count: int) -> float:
    """exp(total / count), clipped to what a float can hold: JSON has no infinity."""
    return math.exp(min(total / count, 700.0)) if count else 1.0
