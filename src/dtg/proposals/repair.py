"""Trees from elsewhere made fit to be proposed: a tree in, a projective one out, and an account of what was changed."""

from __future__ import annotations

from dataclasses import dataclass

from dtg.io.messages import pluralize
from dtg.trees import DependencyTree, projectivize


@dataclass(slots=True)
class Changes:
    """What had to be done to trees so that each is projective and has one root word; asked for twice, counted twice."""

    trees: int = 0
    with_crossing_arcs: int = 0
    lifted_arcs: int = 0
    with_several_roots: int = 0
    attached_roots: int = 0

    def mend(self, tree: DependencyTree, further_roots: int) -> DependencyTree:
        """Lift the arcs that cross, and count. Root words after the first have been attached to it already."""
        mended = projectivize(tree)
        self.trees += 1
        self.with_crossing_arcs += bool(mended.lifted)
        self.lifted_arcs += len(mended.lifted)
        self.with_several_roots += further_roots > 0
        self.attached_roots += further_roots
        return mended.tree

    def lines(self) -> list[str]:
        """What happened, a line each, for a person to read; what did not happen is not mentioned."""
        text = []
        if self.lifted_arcs:
            arcs = pluralize(self.lifted_arcs, "crossing arc")
            text.append(f"lifted {arcs} in {self.with_crossing_arcs:,} of {pluralize(self.trees, 'tree')}")
        if self.attached_roots:
            roots = pluralize(self.attached_roots, "further root")
            text.append(f"attached {roots} in {self.with_several_roots:,} of {pluralize(self.trees, 'tree')}")
        return text
