"""When an action is legal, written once: the same clauses judge a single `State` and thousands of lanes at a time.

A clause sees its state through named *features*. On a `State` those are plain numbers, on lanes they are tensors with a row
for each lane, so clauses use only comparisons, `&` and `|`. `k` is the operation's argument as a number: in arc-swift, how
many stack items down the arc reaches; 1 where there is none.

Every state has `words_left` (words of a known text still to be generated, -1 when the text is not known) and `last` (the
operation of the last action, -1 at the start). Each system's file says which other features its clauses ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dtg.transitions.action import Operation

Derivations = Literal["canonical", "all"]
DERIVATIONS: tuple[Derivations, ...] = ("canonical", "all")


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition of a rule. A canonical clause only keeps a tree from being derived in more than one way."""

    says: str
    holds: Callable[[Any, Any], Any]  # (features, k) -> bool or tensor of bool
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


def allows(clauses: tuple[Clause, ...], features: Any, k: Any) -> Any:
    """True where every clause holds."""
    verdict = clauses[0].holds(features, k)
    for clause in clauses[1:]:
        verdict = verdict & clause.holds(features, k)
    return verdict
