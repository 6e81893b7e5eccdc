"""`DependencyTree`: a sentence and the head of each of its words, validated and immutable (paper, section 2).

Words are numbered from 1; head 0 is `<ROOT>`. Construction checks that there is exactly one root word, that heads are
in range, and that following heads from any word ends at the root word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dtg.errors import RootCountError, TreeError
from dtg.trees.drawing import draw_tree

ROOT = 0


@dataclass(frozen=True, slots=True)
class Source:
    """Where a tree was read from, and what else stood there, so that it can be written back unchanged."""

    path: str
    sentence: int  # counted from 1
    line: int  # of the sentence's first line, counted from 1
    comments: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]  # the ten columns of each word
    inserted: tuple[tuple[int, str], ...]  # multiword ranges and empty nodes: (words before it, the line)


@dataclass(frozen=True, slots=True)
class DependencyTree:
    """Words, the head of each (0 is `<ROOT>`), and optionally the label of each arc.

    Two trees are equal when words, heads and labels are: where they were read from does not count.

    >>> tree = DependencyTree(("There", "is", "a", "difference"), (2, 0, 4, 2))
    >>> tree.root, tree.depth, tree.is_projective
    (2, 3, True)
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...] | None = None
    source: Source | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.words, str):
            raise TreeError(f"words are expected as a sequence of strings, not as one string: {self.words!r}.")
        for name in ("words", "heads", "labels"):
            value = getattr(self, name)
            if isinstance(value, tuple) or (value is None and name == "labels"):
                continue
            if not isinstance(value, Iterable):
                raise TreeError(f"{name} are expected as a sequence, not as {value!r}.")
            object.__setattr__(self, name, tuple(value))
        check_tree(self.words, self.heads, self.labels)

    def __len__(self) -> int:
        return len(self.words)

    def __str__(self) -> str:
        return self.draw()

    @property
    def key(self) -> tuple[int, ...]:
        """What tells trees of one sentence apart: the heads, whatever the labels."""
        return self.heads

    @property
    def root(self) -> int:
        """The number of the word whose head is `<ROOT>`."""
        return self.heads.index(ROOT) + 1

    @property
    def arcs(self) -> tuple[tuple[int, int], ...]:
        """(head, dependent) for every word, by dependent; the arc from `<ROOT>` included."""
        return tuple((head, dependent) for dependent, head in enumerate(self.heads, start=1))

    @property
    def depth(self) -> int:
        """The number of arcs on the longest path from `<ROOT>` to a word."""
        depths = [0] * (len(self.words) + 1)
        for word in range(1, len(depths)):
            path = []
            while word != ROOT and not depths[word]:
                path.append(word)
                word = self.heads[word - 1]
            for above, node in enumerate(reversed(path), start=depths[word] + 1):
                depths[node] = above
        return max(depths)

    @property
    def is_projective(self) -> bool:
        """No arcs cross, the one from `<ROOT>` included."""
        return is_projective(self.heads)

    def with_heads(self, heads: Sequence[int]) -> DependencyTree:
        """The same words, labels and source under other heads."""
        return replace(self, heads=tuple(heads))

    def draw(self, *, ascii_only: bool = False) -> str:
        """The tree for a terminal: one word a line, arcs to the left of it, pointing at the dependent."""
        return draw_tree(self.words, self.heads, self.labels, ascii_only=ascii_only)

    def picture(self, path: str | Path) -> None:
        """The tree as an .svg, .png or .pdf file, with arcs above the words. Needs matplotlib (the `draw` extra)."""
        from dtg.trees.picture import draw_arcs

        draw_arcs(path, self.words, self.heads, self.labels)

    def svg(self) -> str:
        """The tree as the text of an SVG picture, with arcs above the words; notebooks show it. Needs nothing else."""
        from dtg.trees.svg import dependency_svg

        return dependency_svg(self.words, self.heads, self.labels)

    def _repr_svg_(self) -> str:
        return self.svg()


def check_tree(words: Sequence[str], heads: Sequence[int], labels: Sequence[str] | None) -> None:
    """Raise a `TreeError` that names the word (as `error.word`) unless this is a dependency tree."""
    count = len(words)
    if not count:
        raise TreeError("the sentence is empty; a tree needs at least one word.")
    if len(heads) != count:
        raise TreeError(f"there are {count} words but {len(heads)} heads; each word needs one.")
    if labels is not None and len(labels) != count:
        raise TreeError(f"there are {count} words but {len(labels)} labels; each word needs one, or pass none at all.")
    roots = []
    for word, (form, head) in enumerate(zip(words, heads, strict=True), start=1):
        if not isinstance(form, str) or not form:
            raise tree_error(f"word {word} is {form!r}; a non-empty string is expected.", word)
        if type(head) is not int:
            raise tree_error(f"word {word} has head {head!r}; a whole number is expected.", word)
        if not 0 <= head <= count:
            raise tree_error(f"word {word} has head {head}, but the sentence has {count} words.", word)
        if head == word:
            raise tree_error(f"word {word} is its own head.", word)
        if head == ROOT:
            roots.append(word)
    if len(roots) != 1:
        raise root_error(roots)
    check_cycles(heads)


def check_cycles(heads: Sequence[int]) -> None:
    """Raise unless following heads from every word ends at `<ROOT>`."""
    seen = [0] * (len(heads) + 1)  # the walk that first met the word
    for start in range(1, len(seen)):
        word = start
        while word != ROOT and not seen[word]:
            seen[word] = start
            word = heads[word - 1]
        if word != ROOT and seen[word] == start:
            cycle = [word]
            while heads[cycle[-1] - 1] != word:
                cycle.append(heads[cycle[-1] - 1])
            path = " → ".join(map(str, [*cycle, word]))
            raise tree_error(f"the heads of words {path} go round in a circle.", min(cycle))


def is_projective(heads: Sequence[int]) -> bool:
    """True if no two arcs cross: exactly then a shift-reduce parser can take the sentence down to `<ROOT>`."""
    waiting = [0] * (len(heads) + 1)  # dependents not yet attached
    for head in heads:
        waiting[head] += 1
    stack = [ROOT]
    for word in range(1, len(heads) + 1):
        stack.append(word)
        while len(stack) > 1:
            below, top = stack[-2], stack[-1]
            if below != ROOT and heads[below - 1] == top and not waiting[below]:
                del stack[-2]
                waiting[top] -= 1
            elif heads[top - 1] == below and not waiting[top]:
                stack.pop()
                waiting[below] -= 1
            else:
                break
    return len(stack) == 1


def tree_error(message: str, word: int) -> TreeError:
    error = TreeError(message)
    error.word = word
    return error


def root_error(roots: Sequence[int]) -> RootCountError:
    if roots:
        error = RootCountError(
            f"words {', '.join(map(str, roots))} all have head 0; exactly one root word is expected."
        )
        error.word = roots[1]
        return error
    return RootCountError("no word has head 0; exactly one root word is expected.")
