"""When an action is legal, written once: the same clauses judge a single `State` and thousands of lanes at a time.

A clause sees its state through `Features`. On a `State` those are plain numbers, on lanes they are tensors with a row for
each lane, so clauses use only comparisons, `&` and `|`. `k` is the distance of an arc: 1, or in arc-swift how many stack
items down the arc reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from dtg.transitions.action import Operation

Derivations = Literal["canonical", "all"]
DERIVATIONS: tuple[Derivations, ...] = ("canonical", "all")


class Features(Protocol):
    """What the clauses may ask. Each is a number or truth value, or a tensor of them."""

    @property
    def depth(self) -> Any:
        """Items on the stack, <ROOT> included, the buffer head not."""

    @property
    def buffered(self) -> Any:
        """A generated word is waiting in the buffer head (never so in arc-standard, which has no buffer)."""

    @property
    def headless(self) -> Any:
        """Words without a head, on the stack or in the buffer."""

    @property
    def root_has_word(self) -> Any:
        """<ROOT> has its one dependent."""

    @property
    def words_left(self) -> Any:
        """Words of a known text still to be generated; -1 when the text is not known."""

    @property
    def last(self) -> Any:
        """The operation of the last action; -1 at the start."""

    @property
    def top_has_right_dependent(self) -> Any:
        """The top of the stack has been given a dependent on its right."""

    @property
    def headed_run(self) -> Any:
        """How many items have heads, counted from the top of the stack down to the first that has none."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition of a rule. A canonical clause only keeps a tree from being derived in more than one way."""

    says: str
    holds: Callable[[Any, Any], Any]  # (Features, k) -> bool or tensor of bool
    canonical: bool = False


Rules = Mapping[Operation, tuple[Clause, ...]]

# Shared by several systems.
TEXT_GOES_ON = Clause("the known text is not used up", lambda s, k: s.words_left != 0)
TEXT_IS_DONE = Clause("no known text is left", lambda s, k: s.words_left <= 0)
ROOT_IS_FREE = Clause("<ROOT> has no word yet", lambda s, k: s.root_has_word == 0)
ROOT_IS_TAKEN = Clause("<ROOT> has its word", lambda s, k: s.root_has_word == 1)
BUFFER_IS_FILLED = Clause("a word is in the buffer", lambda s, k: s.buffered == 1)
NO_WORD_IS_HEADLESS = Clause("every word has a head", lambda s, k: s.headless == 0)
# A word on the stack without a head waits for one on its right: the buffer head must take it before it leaves the buffer.
NO_WORD_IS_STRANDED = Clause(
    "more text may come, or only the buffer head lacks a head",
    lambda s, k: (s.words_left != 0) | (s.headless == 1),
)


def active(rules: Rules, derivations: Derivations) -> Rules:
    """The rules that apply: all clauses, or those that are not there only for uniqueness."""
    if derivations == "canonical":
        return rules
    return {operation: tuple(c for c in clauses if not c.canonical) for operation, clauses in rules.items()}


def allows(clauses: tuple[Clause, ...], features: Features, k: Any) -> Any:
    """True where every clause holds."""
    verdict = clauses[0].holds(features, k)
    for clause in clauses[1:]:
        verdict = verdict & clause.holds(features, k)
    return verdict
