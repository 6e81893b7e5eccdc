"""Trees that a test knows to be dependency trees."""

from __future__ import annotations

from dtg.trees import DependencyTree
from dtg.trees.kinds import PartialDependencyTree, PartialTree, Tree


def as_dependency(tree: Tree | None) -> DependencyTree:
    assert isinstance(tree, DependencyTree)
    return tree


def as_partial(tree: PartialTree) -> PartialDependencyTree:
    assert isinstance(tree, PartialDependencyTree)
    return tree
