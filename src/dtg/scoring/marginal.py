"""`Marginal`: what is known about log p(x), what its number is, and from how many trees.

p(x) sums p(x, y) over all trees y. Summing over some of them gives a lower bound; only all of them give p(x) itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dtg.io.messages import pluralize
from dtg.transitions.rules import Derivations

Kind = Literal["exact", "lower bound", "estimate"]
SIGNS: dict[Kind, str] = {"exact": "=", "lower bound": "≥", "estimate": "≈"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginal:
    """Log-probabilities are in nats and include `<END>`.

    `exact` is the sum over all trees, `lower bound` over some of them. An `estimate` is right on average (p(x) is; its
    logarithm is a little low): by chance it may be above log p(x), or even below its own `lower_bound`.
    """

    log_probability: float
    kind: Kind
    how: str  # such as "beam 300"
    trees: int  # distinct trees summed; 0 for families without trees
    # The sum over these trees: never more than log p(x); equal to log_probability unless this is an estimate.
    lower_bound: float
    constrained: bool  # illegal actions were masked before normalising
    derivations: Derivations = "canonical"
    draws: int | None = None  # trees that were given or drawn, repeats included
    out_of_reach: int = 0  # trees left out because they need an arc beyond `distance_limit`: their probability is 0
    distance_limit: int | None = None  # of arc-swift: the model gives no other tree any probability
    effective_sample_size: float | None = None  # (Σw)² / Σw² over the draws: how many of them carry the estimate
    standard_error: float | None = None  # of log p(x), to first order

    @property
    def is_bound(self) -> bool:
        """log p(x) may be larger, and is not smaller."""
        return self.kind == "lower bound"

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" ± {self.standard_error:.2g}"
        return f"log p(x) {SIGNS[self.kind]} {self.log_probability:.4f}{error} nats ({self.kind}: {'; '.join(self.remarks())})"

    def remarks(self) -> list[str]:
        """How the number came about, and whatever is not as one would expect."""
        said = [self.how]
        if self.trees and not (self.draws == self.trees or self.kind == "exact"):
            said.append(f"{self.trees:,} distinct {'tree' if self.trees == 1 else 'trees'}")
        if self.effective_sample_size is not None:
            said.append(f"effective sample size {self.effective_sample_size:.1f}")
            said.append(f"at least {self.lower_bound:.4f}")
        if not self.constrained:
            said.append("unconstrained")
        if self.derivations != "canonical":
            said.append(f"{self.derivations} derivations")
        if self.distance_limit is not None:
            said.append(f"arcs of distance {self.distance_limit} at most")
        if self.out_of_reach:
            said.append(f"{pluralize(self.out_of_reach, 'tree')} out of reach")
        return said
