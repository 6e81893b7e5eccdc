"""What every transition system is: `initial`, `legal`, `apply`, `oracle` and `tree`, pure and for one sentence.

A system gives its rules, the effect of each operation, its oracle, and the state of many lanes; this base gives what follows
from them. Which trees and states go in is the system's own business: `dependency.py` has what dependency systems share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from dtg.errors import IllegalTransition, TransitionError
from dtg.io.settings import check_choice
from dtg.transitions.action import END, ROLES, Action, Argument, Operation, Role
from dtg.transitions.batch import ActionBatch, SentenceBatch, expand_actions
from dtg.transitions.rules import DERIVATIONS, Derivations, Rules, active, allows
from dtg.transitions.state import State
from dtg.transitions.table import ActionTable
from dtg.trees.kinds import PartialTree, Tree, TreeKind

if TYPE_CHECKING:
    from torch import Tensor

    from dtg.transitions.lanes import FeatureTable, LaneStates


class TransitionSystem(ABC):
    """A way to build a tree while generating its words from left to right."""

    name: ClassVar[str]
    rules: ClassVar[Rules]  # where they do not depend on the system's options
    kind: ClassVar[TreeKind | None]  # of the trees it builds; None for words alone
    lane_states: ClassVar[type[LaneStates]]
    roles: ClassVar[Mapping[Operation, Role]] = ROLES  # what operations do to rows
    within_word: ClassVar[Action | None] = None  # taken between two subwords of a word
    options: ClassVar[tuple[str, ...]] = ()  # keywords of its constructor besides `derivations`

    def __init__(self, *, derivations: Derivations = "canonical") -> None:
        """With `derivations="all"`, a tree may be built in more than one way (the clauses marked (*) in the design)."""
        check_choice("derivations", derivations, DERIVATIONS)
        self.derivations = derivations
        rules = self.make_rules()
        self.active_rules = active(rules, derivations)
        operations = [code for code in rules if code not in (Operation.GEN, Operation.END)]
        self.table = ActionTable({code: self.arguments(code) for code in operations}, self.items_taken, self.roles)

    def make_rules(self) -> Rules:
        """The system's rules; those that depend on its options override this."""
        return self.rules

    def arguments(self, operation: Operation) -> tuple[Argument, ...]:
        """The arguments that an operation may have; (None,) where it takes none."""
        return (None,)

    def items_taken(self, operation: Operation, argument: Argument) -> int:
        """How many items an action takes off the stack before one is put in, where the action alone decides that."""
        return 0

    @property
    def limits(self) -> Mapping[str, int]:
        """Limits that leave trees without a derivation, by name; empty if every tree of its kind has one."""
        return {}

    def initial(self, text: Sequence[str] | None = None) -> State:
        """The state before the first word. With `text`, only derivations of exactly these words are legal from it."""
        return State(text=None if text is None else tuple(text))

    def legal(self, state: State) -> tuple[Action, ...]:
        """Every legal action. Where the text is not known, a GEN without a word stands for generating any."""
        return tuple(action for action in self._candidates(state) if self.is_legal(state, action))

    def is_legal(self, state: State, action: Action) -> bool:
        """Whether the action's rule holds in the state."""
        if state.last == Operation.END or (action.operation, action.argument) not in self.table.ids:
            return False
        if not allows(self.active_rules[action.operation], state, self.table.argument_number(self.table.id_of(action))):
            return False
        return action.operation != Operation.GEN or action.word is None or state.next_word in (None, action.word)

    def apply(self, state: State, action: Action) -> State:
        """The state after the action; `IllegalTransition` if it is not legal."""
        if not self.is_legal(state, action):
            options = ", ".join(map(str, self.legal(state))) or "none, the derivation is complete"
            raise IllegalTransition(
                f"{action} is not legal in {self.name} after {len(state.words)} words{self.describe(state)}."
                f" Legal here: {options}."
            )
        return self.effect(state, action)

    def describe(self, state: Any) -> str:
        """What an error message says of a state besides its number of words."""
        return ""

    def oracle(self, tree: Any) -> tuple[Action, ...]:
        """The tree's one canonical derivation, `<END>` included (preferring arcs to GEN to POP, as the paper does)."""
        self.check(tree)
        return (*self.steps(tree), END)

    def reaches(self, tree: Any, subwords: Sequence[int] | None = None) -> bool:
        """Whether the system's limits leave the tree a derivation; `subwords` says how many each word has, one if not given."""
        return True

    def tree(self, actions: Iterable[Action]) -> Tree:
        """The tree that a complete derivation builds."""
        state = self.initial()
        for action in actions:
            state = self.apply(state, action)
        if state.last != Operation.END:
            raise TransitionError(
                f"the derivation is not complete: it stops after {len(state.words)} words without <END>."
            )
        return self.result(state)

    def trees(self, words: tuple[str, ...]) -> Iterator[Tree]:
        """Every tree of these words that the system derives, each once per derivation."""
        waiting = [self.initial(words)]
        while waiting:
            state = waiting.pop()
            if state.last == Operation.END:
                yield self.result(state)
            else:
                waiting += [self.effect(state, action) for action in reversed(self.legal(state))]

    @abstractmethod
    def count_trees(self, words: int) -> int:
        """How many trees a sentence of this length has."""

    def derive(self, batch: SentenceBatch) -> ActionBatch:
        """The oracle for a whole batch of trees. Systems override this with something that has no loop."""
        return expand_actions(self.table, batch, [self.oracle(tree) for tree in batch.trees()])

    def open_words(self, features: FeatureTable) -> tuple[Tensor, Tensor | None]:
        """(states,) bool where the next subword must begin a word, and where it must continue one (None: nowhere)."""
        return features.last[:, 0] != Operation.GEN, None

    def after_generating(self, features: Tensor, starts_word: Tensor) -> Tensor:
        """The features of states after a GEN that adds no row; only systems with an action `within_word` have such."""
        raise AssertionError(f"every GEN of {self.name} adds a row")

    def by_words(self, ids: Sequence[int], subwords: int) -> Sequence[int]:
        """The actions after a word of this many subwords, as if it were one token."""
        return ids

    @abstractmethod
    def check(self, tree: Any) -> None:
        """Raise if the tree has no derivation."""

    @abstractmethod
    def result(self, state: Any) -> Tree:
        """The tree of a state after `<END>`, or after whatever completes it."""

    @abstractmethod
    def partial(self, state: Any, probability: float, log_probability: float) -> PartialTree:
        """What a hypothesis has built so far."""

    @abstractmethod
    def effect(self, state: Any, action: Action) -> State:
        """The state after an action that is known to be legal."""

    @abstractmethod
    def steps(self, tree: Any) -> Iterator[Action]:
        """The canonical derivation of a tree, without `<END>`."""

    def _candidates(self, state: State) -> Iterator[Action]:
        for operation, argument in self.table.entries:
            word = state.next_word if operation == Operation.GEN and state.words_left else None
            yield Action(operation, word, argument)
