"""Repair of trees from elsewhere: crossing arcs are lifted, and what was changed is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dtg.io.messages import pluralize
from dtg.trees import DependencyTree, projectivize
from dtg.trees.report import BracketCounts


@dataclass(slots=True)
class RepairCounts:
    """What was changed so that each tree is projective, has one root word, or is of phrases; read twice, counted twice."""

    trees: int = 0
    with_crossing_arcs: int = 0
    lifted_arcs: int = 0
    with_several_roots: int = 0
    attached_roots: int = 0
    # Of trees in brackets.
    brackets: BracketCounts = field(default_factory=BracketCounts)

    def repair(self, tree: DependencyTree, further_roots: int) -> DependencyTree:
        """Lift the arcs that cross, and count.

        Args:
            tree: with one root word.
            further_roots: how many other root words have been attached to it before.

        Returns:
            The projective tree.
        """
        projective = projectivize(tree)
        self.trees += 1
        self.with_crossing_arcs += bool(projective.lifted)
        self.lifted_arcs += len(projective.lifted)
        self.with_several_roots += further_roots > 0
        self.attached_roots += further_roots
        return projective.tree

    def add_brackets(self, counts: BracketCounts) -> None:
        """Count a tree that was read from brackets; whether it has tags does not matter here."""
        self.trees += 1
        self.brackets.add(replace(counts, untagged=0))

    def counts(self) -> dict[str, Any]:
        """All of them, as JSON can hold them."""
        return asdict(self)

    def add_counts(self, counts: Mapping[str, Any]) -> None:
        """Add what another process has counted."""
        self.brackets.add(BracketCounts(**counts["brackets"]))
        for name in ("trees", "with_crossing_arcs", "lifted_arcs", "with_several_roots", "attached_roots"):
            setattr(self, name, getattr(self, name) + counts[name])

    def lines(self) -> list[str]:
        """What was repaired, a line each, for a person to read; nothing where nothing was."""
        text = []
        if self.lifted_arcs:
            arcs = pluralize(self.lifted_arcs, "crossing arc")
            text.append(f"lifted {arcs} in {self.with_crossing_arcs:,} of {pluralize(self.trees, 'tree')}")
        if self.attached_roots:
            roots = pluralize(self.attached_roots, "further root")
            text.append(f"attached {roots} in {self.with_several_roots:,} of {pluralize(self.trees, 'tree')}")
        return text + self.brackets.lines()
