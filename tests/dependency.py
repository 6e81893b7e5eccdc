"""Dependency trees, and what reads them: for tests that are about these and about words alone."""

from __future__ import annotations

from dtg.families import FAMILIES
from dtg.transitions import SYSTEMS
from dtg.trees import DependencyTree
from dtg.trees.kinds import DEPENDENCY, PartialDependencyTree, PartialTree, Tree

DEPENDENCY_SYSTEMS = [name for name, system in SYSTEMS.items() if system.kind in (DEPENDENCY, None)]
DEPENDENCY_FAMILIES = [name for name, entry in FAMILIES.items() if entry.system.kind in (DEPENDENCY, None)]


def as_dependency(tree: Tree | None) -> DependencyTree:
    assert isinstance(tree, DependencyTree)
    return tree


def as_partial(tree: PartialTree) -> PartialDependencyTree:
    assert isinstance(tree, PartialDependencyTree)
    return tree
