"""What every transition system is: `initial`, `legal`, `apply`, `oracle` and `tree`, pure and for one sentence.

A system gives its rules, the effect of each operation, and its oracle; this base gives what follows from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from dtg.errors import IllegalTransition, TransitionError
from dtg.io.settings import check_choice
from dtg.transitions.action import END, Action, Operation
from dtg.transitions.batch import ActionBatch, SentenceBatch, expand_actions
from dtg.transitions.rules import DERIVATIONS, Derivations, Rules, active, allows
from dtg.transitions.state import State
from dtg.trees import DependencyTree, require_projective


class TransitionSystem(ABC):
    """A way to build a dependency tree while generating its words from left to right."""

    name: ClassVar[str]
    rules: ClassVar[Rules]
    has_buffer: ClassVar[bool] = False  # a generated word waits in the buffer head until the next one is generated
    builds_trees: ClassVar[bool] = True
    keeps_right_dependent: ClassVar[bool] = False  # RIGHTARC leaves the dependent on the stack, above its head

    def __init__(self, *, derivations: Derivations = "canonical") -> None:
        """With `derivations="all"`, a tree may be built in more than one way (the clauses marked (*) in the design)."""
        check_choice("derivations", derivations, DERIVATIONS)
        self.derivations = derivations
        self.active_rules = active(self.rules, derivations)

    @property
    def distances(self) -> tuple[int | None, ...]:
        """The distances an arc may have; (None,) where arcs carry none."""
        return (None,)

    def initial(self, text: Sequence[str] | None = None) -> State:
        """The state before the first word. With `text`, only derivations of exactly these words are legal from it."""
        return State(text=None if text is None else tuple(text))

    def legal(self, state: State) -> tuple[Action, ...]:
        """Every legal action. Where the text is not known, a GEN without a word stands for generating any."""
        return tuple(action for action in self._candidates(state) if self.is_legal(state, action))

    def is_legal(self, state: State, action: Action) -> bool:
        """Whether the action's rule holds in the state."""
        clauses = self.active_rules.get(action.operation)
        if (
            clauses is None
            or state.last == Operation.END
            or action.distance not in self._distances_of(action.operation)
        ):
            return False
        if not allows(clauses, state, action.distance or 1):
            return False
        return action.operation != Operation.GEN or action.word is None or state.next_word in (None, action.word)

    def apply(self, state: State, action: Action) -> State:
        """The state after the action; `IllegalTransition` if it is not legal."""
        if not self.is_legal(state, action):
            options = ", ".join(map(str, self.legal(state))) or "none, the derivation is complete"
            raise IllegalTransition(
                f"{action} is not legal in {self.name} after {len(state.words)} words with stack {state.stack}"
                f" and buffer {state.buffer}. Legal here: {options}."
            )
        return self.effect(state, action)

    def oracle(self, tree: DependencyTree) -> tuple[Action, ...]:
        """The tree's one canonical derivation, `<END>` included (preferring arcs to GEN to POP, as the paper does)."""
        self.check(tree)
        return (*self.steps(tree), END)

    def check(self, tree: DependencyTree) -> None:
        """Raise if the tree has no derivation because arcs cross."""
        require_projective(tree)

    def tree(self, actions: Iterable[Action]) -> DependencyTree:
        """The tree that a complete derivation builds."""
        state = self.initial()
        for action in actions:
            state = self.apply(state, action)
        if state.last != Operation.END:
            raise TransitionError(
                f"the derivation is not complete: it stops after {len(state.words)} words without <END>."
            )
        heads = [head for head in state.heads if head is not None]
        return DependencyTree(state.words, tuple(heads))

    def derive(self, batch: SentenceBatch) -> ActionBatch:
        """The oracle for a whole batch of projective trees. Systems override this with something that has no loop."""
        return expand_actions(batch, [self.oracle(tree) for tree in batch.trees()])

    @abstractmethod
    def effect(self, state: State, action: Action) -> State:
        """The state after an action that is known to be legal."""

    @abstractmethod
    def steps(self, tree: DependencyTree) -> Iterator[Action]:
        """The canonical derivation of a projective tree, without `<END>`."""

    def _candidates(self, state: State) -> Iterator[Action]:
        for operation in self.active_rules:
            word = state.next_word if operation == Operation.GEN and state.words_left else None
            for distance in self._distances_of(operation):
                yield Action(operation, word, distance)

    def _distances_of(self, operation: Operation) -> tuple[int | None, ...]:
        return self.distances if operation in (Operation.LEFTARC, Operation.RIGHTARC) else (None,)
