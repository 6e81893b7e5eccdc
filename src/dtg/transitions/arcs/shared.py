"""What systems that build dependency trees share: the state of one sentence, and how trees are checked and built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from dtg.errors import InputError
from dtg.transitions.action import Action, Argument, Operation
from dtg.transitions.state import State
from dtg.transitions.system import TransitionSystem
from dtg.trees.enumeration import count_projective, enumerate_projective
from dtg.trees.kinds import DEPENDENCY, PartialDependencyTree, TreeKind
from dtg.trees.tree import ROOT, DependencyTree
from dtg.trees.treebank import require_projective


@dataclass(frozen=True, slots=True)
class DependencyState(State):
    """The heads so far, the stack and the buffer head. The properties are the features of dependency systems' rules."""

    heads: tuple[int | None, ...] = ()  # of words, None where not yet known
    stack: tuple[int, ...] = (ROOT,)  # bottom to top
    buffer: int | None = None  # the buffer head, in systems that have one

    @property
    def depth(self) -> int:
        """Items on the stack, <ROOT> included, the buffer head not."""
        return len(self.stack)

    @property
    def buffered(self) -> bool:
        """A generated word is waiting in the buffer head (never so in arc-standard, which has no buffer)."""
        return self.buffer is not None

    @property
    def headless(self) -> int:
        """Words without a head, on the stack or in the buffer."""
        return self.heads.count(None)

    @property
    def root_has_word(self) -> bool:
        """<ROOT> has its one dependent."""
        return ROOT in self.heads

    @property
    def top_has_right_dependent(self) -> bool:
        """The top of the stack has been given a dependent on its right."""
        return any(head == self.stack[-1] for head in self.heads[self.stack[-1] :])

    @property
    def headed_run(self) -> int:
        """How many items have heads, counted from the top of the stack down to the first that has none."""
        for run, item in enumerate(reversed(self.stack)):
            if item == ROOT or self.heads[item - 1] is None:
                return run
        return len(self.stack)

    @property
    def shifted(self) -> tuple[int, ...]:
        """The stack with the buffer head on it, if there is one."""
        return self.stack if self.buffer is None else (*self.stack, self.buffer)

    def with_head(self, dependent: int, head: int) -> tuple[int | None, ...]:
        """The heads with one more known."""
        return (*self.heads[: dependent - 1], head, *self.heads[dependent:])


class DependencySystem(TransitionSystem):
    """A system whose trees are projective dependency trees with one root word."""

    kind: ClassVar[TreeKind | None] = DEPENDENCY

    def items_taken(self, operation: Operation, argument: Argument) -> int:
        if operation in (Operation.LEFTARC, Operation.RIGHTARC):
            return 1 + (argument if isinstance(argument, int) else 1)
        return {Operation.POP: 1, Operation.POPROOT: 2}.get(operation, 0)

    def initial(self, text: Sequence[str] | None = None) -> DependencyState:
        return DependencyState(text=None if text is None else tuple(text))

    def describe(self, state: DependencyState) -> str:
        return f" with stack {state.stack} and buffer {state.buffer}"

    def check(self, tree: Any) -> None:
        """Raise if the tree is of another kind, or has no derivation because arcs cross."""
        if not isinstance(tree, DependencyTree):
            raise InputError(f"{self.name} derives dependency trees; this is a {type(tree).__name__}.")
        require_projective(tree)

    def result(self, state: DependencyState) -> DependencyTree:
        return DependencyTree(state.words, tuple(head for head in state.heads if head is not None))

    def tree(self, actions: Iterable[Action]) -> DependencyTree:
        tree = super().tree(actions)
        assert isinstance(tree, DependencyTree)
        return tree

    def trees(self, words: tuple[str, ...]) -> Iterator[DependencyTree]:
        return (DependencyTree(words, heads) for heads in enumerate_projective(len(words)))

    def count_trees(self, words: int) -> int:
        return count_projective(words)

    def partial(self, state: DependencyState, probability: float, log_probability: float) -> PartialDependencyTree:
        return PartialDependencyTree(state.words, state.heads, state.shifted, probability, log_probability)
