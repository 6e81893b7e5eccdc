"""Pseudo-projective lifting (Nivre and Nilsson 2005): makes trees with crossing arcs projective.

The shortest arc that crosses another is lifted: its dependent is attached to its head's head. This repeats until no arcs
cross. Labels stay as they are. No word is ever lifted to `<ROOT>`, because the root word's own arcs cannot be crossed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dtg.trees.tree import DependencyTree


@dataclass(frozen=True, slots=True)
class Projectivized:
    """The projective tree, and the words whose heads had to change to get it."""

    tree: DependencyTree
    lifted: tuple[int, ...]


def projectivize(tree: DependencyTree) -> Projectivized:
    """Lift arcs until none cross; a projective tree is returned unchanged."""
    if tree.is_projective:
        return Projectivized(tree, ())
    heads = list(tree.heads)
    while (dependent := shortest_crossed(heads)) is not None:
        heads[dependent - 1] = heads[heads[dependent - 1] - 1]
    lifted = (word for word, (old, new) in enumerate(zip(tree.heads, heads, strict=True), start=1) if old != new)
    return Projectivized(tree.with_heads(heads), tuple(lifted))


def shortest_crossed(heads: Sequence[int]) -> int | None:
    """The dependent of the shortest arc that spans a word its head does not dominate; the leftmost if several do."""
    enter, leave = dominance_intervals(heads)
    best: tuple[int, int] | None = None
    for dependent, head in enumerate(heads, start=1):
        if head == 0:
            continue
        candidate = (abs(head - dependent), dependent)
        if best is not None and candidate >= best:
            continue
        low, high = min(head, dependent) + 1, max(head, dependent)
        if any(not enter[head] <= enter[word] < leave[head] for word in range(low, high)):
            best = candidate
    return None if best is None else best[1]


def dominance_intervals(heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """For each word, when a walk down the tree enters and leaves it: h dominates w if enter[h] <= enter[w] < leave[h]."""
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for dependent, head in enumerate(heads, start=1):
        children[head].append(dependent)
    enter, leave = [0] * len(children), [0] * len(children)
    clock, agenda = 0, [0]
    while agenda:
        node = agenda.pop()
        if node < 0:
            leave[~node] = clock
            continue
        enter[node] = clock
        clock += 1
        agenda.append(~node)
        agenda.extend(children[node])
    return enter, leave
