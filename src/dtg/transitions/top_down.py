"""Top-down phrase structure (Dyer et al. 2016; Choe and Charniak 2016): phrases are opened, filled and closed.

NT(X)       [..]             ->  [.. (X]
GEN(x)      [.. (X ..]       ->  [.. (X .. x]
REDUCE      [.. (X a b c]    ->  [.. X]         everything since the innermost open phrase becomes that phrase
<END>       [S]              when the outermost phrase is closed

Closing brackets are typed, REDUCE(X), as in Transformer Grammars, or one REDUCE closes whatever is open, as in parsing as
language modelling. Two limits keep the number of trees of a sentence finite: open phrases, and phrases that begin at one word.

Features: open (phrases), chain (phrases opened since the last GEN or REDUCE), top_label (of the innermost open phrase).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, ClassVar

import torch
from torch import Tensor

from dtg.errors import InputError, TooFarError
from dtg.transitions.action import GEN, NT, REDUCE, Action, Argument, Operation
from dtg.transitions.batch import ActionBatch, ConstituencyColumns, SentenceBatch, expand
from dtg.transitions.lanes import Change, LaneActions, LaneStates
from dtg.transitions.rules import TEXT_GOES_ON, Clause, Derivations, Rules
from dtg.transitions.state import State
from dtg.transitions.system import TransitionSystem
from dtg.transitions.table import FINISH, GENERATE
from dtg.trees.kinds import CONSTITUENCY, PartialConstituencyTree, TreeKind
from dtg.trees.phrases.constituency import ConstituencyTree, Node

MAX_OPEN, MAX_CHAIN = 60, 12

NOT_EMPTY = Clause("the phrase is not empty", lambda s, k: s.last != Operation.NT)
A_PHRASE_IS_OPEN = Clause("a phrase is open", lambda s, k: s.open >= 1)


@dataclass(frozen=True, slots=True)
class PhraseState(State):
    """The phrases so far, in the order they were opened. The properties are the features of the rules."""

    nodes: tuple[tuple[str, int, int | None], ...] = ()  # label, first word, last word or None while it is open
    labels: tuple[str, ...] = ()  # that the system knows
    chain: int = 0  # phrases opened since the last GEN or REDUCE

    @property
    def open(self) -> int:
        """Open phrases."""
        return sum(last is None for _, _, last in self.nodes)

    @property
    def innermost(self) -> int:
        """The place of the innermost open phrase among the nodes."""
        return max(place for place, (_, _, last) in enumerate(self.nodes) if last is None)

    @property
    def top_label(self) -> int:
        """The number of the innermost open phrase's label; -1 if none is open."""
        return self.labels.index(self.nodes[self.innermost][0]) if self.open else -1


@dataclass(slots=True)
class PhraseLanes(LaneStates):
    """The lanes of top-down. `opened`, `label` and `level` are stacks: of open phrases, and of items."""

    open: Tensor
    chain: Tensor
    opened: Tensor  # (lanes, width) by open phrase, outermost first: its item
    label: Tensor  # (lanes, width) by open phrase: its label's number
    level: Tensor  # (lanes, width) by item: how deep it is; <ROOT> is 0

    feature_names = ("open", "chain", "last", "top_label")
    tables = ("opened", "label", "level")

    @property
    def top_label(self) -> Tensor:
        found = self.label.gather(1, (self.open - 1).clamp(min=0))
        return torch.where(self.open > 0, found, -1)

    @property
    def stack_depth(self) -> Tensor:
        """Open phrases."""
        return self.open

    def change(self, actions: LaneActions) -> Change:
        innermost = self.opened.gather(1, (self.open - 1).clamp(min=0))
        lower = torch.where(actions.does[Operation.REDUCE], innermost, self.items - actions.taken)
        return Change(self.items - 1, lower, lower, None, lower + actions.puts_in - 1)

    def apply(self, actions: LaneActions, change: Change) -> None:
        opens, closes = actions.does[Operation.NT], actions.does[Operation.REDUCE]
        # A closed phrase keeps the level of its opening; what is pushed is one level below the innermost open phrase.
        new_item = actions.starts_item
        level = torch.where(new_item, self.open + 1, self.level.gather(1, change.lower))
        self.level.scatter_(1, change.lower, level)
        # Where nothing is opened, this is written above the innermost open phrase and has no meaning.
        self.opened.scatter_(1, self.open, change.lower)
        self.label.scatter_(1, self.open, actions.argument)
        self.open = self.open + opens.long() - closes.long()
        self.chain = torch.where(actions.idle, self.chain, (self.chain + 1) * opens)
        self.record(actions, change)


class TopDown(TransitionSystem):
    """Phrases with labels, opened before their words and closed after them."""

    name = "top-down"
    kind: ClassVar[TreeKind | None] = CONSTITUENCY
    lane_states = PhraseLanes
    options = ("labels", "typed_closing", "max_open", "max_chain")

    def __init__(
        self,
        *,
        derivations: Derivations = "canonical",
        labels: Sequence[str] = ("X",),
        typed_closing: bool = True,
        max_open: int = MAX_OPEN,
        max_chain: int = MAX_CHAIN,
    ) -> None:
        """Make a system.

        Args:
            derivations: every tree has one derivation either way.
            labels: of phrases, in the order of their numbers.
            typed_closing: a closing bracket says which label it closes.
            max_open: phrases that may be open at once.
            max_chain: phrases that may begin at one word.
        """
        if not labels or len(set(labels)) != len(labels):
            raise InputError(f"labels of phrases are expected, each once, not {tuple(labels)!r}.")
        if max_open < 1 or max_chain < 1:
            raise InputError(f"max_open and max_chain must be at least 1, not {max_open} and {max_chain}.")
        self.labels, self.typed_closing = tuple(labels), typed_closing
        self.max_open, self.max_chain = max_open, max_chain
        super().__init__(derivations=derivations)

    def make_rules(self) -> Rules:
        """The clauses, with this system's limits in them."""
        most_open, most_begin = self.max_open, self.max_chain
        close: tuple[Clause, ...] = (
            A_PHRASE_IS_OPEN,
            NOT_EMPTY,
            Clause("the outermost only when no text is left", lambda s, k: (s.open > 1) | (s.words_left <= 0)),
        )
        if self.typed_closing:
            close = (*close, Clause("the label is that of the phrase", lambda s, k: s.top_label == k))
        return {
            Operation.GEN: (A_PHRASE_IS_OPEN, TEXT_GOES_ON),
            Operation.NT: (
                TEXT_GOES_ON,
                Clause("the outermost phrase is not closed", lambda s, k: (s.open >= 1) | (s.last == -1)),
                Clause("not too many phrases are open", lambda s, k: s.open < most_open),
                Clause("not too many phrases begin here", lambda s, k: s.chain < most_begin),
            ),
            Operation.REDUCE: close,
            Operation.END: (Clause("the outermost phrase is closed", lambda s, k: (s.open == 0) & (s.last != -1)),),
        }

    def arguments(self, operation: Operation) -> tuple[Argument, ...]:
        labelled = operation == Operation.NT or (operation == Operation.REDUCE and self.typed_closing)
        return self.labels if labelled else (None,)

    @property
    def limits(self) -> Mapping[str, int]:
        return {"max_open": self.max_open, "max_chain": self.max_chain}

    def initial(self, text: Sequence[str] | None = None) -> PhraseState:
        return PhraseState(text=None if text is None else tuple(text), labels=self.labels)

    def describe(self, state: PhraseState) -> str:
        open_ = " ".join(f"({label}" for label, _, last in state.nodes if last is None)
        return f" with {open_ or 'nothing'} open"

    def effect(self, state: PhraseState, action: Action) -> PhraseState:
        match action.operation:
            case Operation.GEN:
                return replace(state, words=(*state.words, action.word or ""), chain=0, last=action.operation)
            case Operation.NT:
                opened = (str(action.argument), len(state.words) + 1, None)
                return replace(state, nodes=(*state.nodes, opened), chain=state.chain + 1, last=action.operation)
            case Operation.REDUCE:
                place = state.innermost
                label, first, _ = state.nodes[place]
                nodes = (*state.nodes[:place], (label, first, len(state.words)), *state.nodes[place + 1 :])
                return replace(state, nodes=nodes, chain=0, last=action.operation)
            case _:
                return replace(state, last=action.operation)

    def check(self, tree: Any) -> None:
        """Raise if the tree is of another kind or has a label that the system does not know."""
        if not isinstance(tree, ConstituencyTree):
            raise InputError(
                f"{self.name} derives phrase-structure trees; this is a {type(tree).__name__}."
                " ConstituencyTree.from_dependencies projects dependencies to phrases (project)."
            )
        if unknown := sorted({node.label for node in tree.nodes} - set(self.labels)):
            raise InputError(
                f"the tree of {' '.join(tree.words)!r} has phrases labelled {', '.join(unknown)}, which the model does not"
                f" know. Known: {', '.join(self.labels)}."
            )

    def reaches(self, tree: ConstituencyTree, subwords: Sequence[int] | None = None) -> bool:
        """False where too many phrases are open at once, or begin at one word, or have a label that is not known."""
        depth, begin = tree_limits(tree)
        return depth <= self.max_open and begin <= self.max_chain and set(tree.labels) <= set(self.labels)

    def steps(self, tree: ConstituencyTree) -> Iterator[Action]:
        if not self.reaches(tree):
            depth, begin = tree_limits(tree)
            raise TooFarError(
                f"the tree of {' '.join(tree.words)!r} has {depth} open phrases and {begin} that begin at one word; the limits"
                f" are {self.max_open} and {self.max_chain}. Use a model with higher limits, or leave the tree out."
            )
        waiting = list(reversed(tree.nodes))  # in preorder from the end
        open_: list[Node] = []
        for word, form in enumerate(tree.words, start=1):
            while waiting and waiting[-1].first == word:
                open_.append(waiting.pop())
                yield NT(open_[-1].label)
            yield GEN(form)
            while open_ and open_[-1].last == word:
                closed = open_.pop()
                yield REDUCE.at(closed.label) if self.typed_closing else REDUCE

    def derive(self, batch: SentenceBatch) -> ActionBatch:
        """Before a word as many NT as phrases begin there, after it as many REDUCE as end there."""
        nodes = batch.columns
        if not isinstance(nodes, ConstituencyColumns):
            found = "none" if nodes is None else type(nodes).__name__
            raise InputError(f"phrase-structure trees are needed to derive phrases; this batch has {found}.")
        label = self._numbers(nodes)
        self._check_limits(batch, nodes)
        words, device = batch.words, batch.device
        begin = torch.bincount(nodes.first, minlength=words)
        end = torch.bincount(nodes.last, minlength=words)
        nt, reduce = self.table.first[Operation.NT], self.table.first[Operation.REDUCE]
        runs = torch.tensor([nt, GENERATE, reduce, FINISH], device=device).repeat(words)
        counts = torch.zeros(words, 4, dtype=torch.long, device=device)
        counts[:, 0], counts[:, 1], counts[:, 2] = begin, batch.piece_counts, end
        counts[batch.last_words, 3] = 1
        actions = expand(batch, runs, counts.flatten())
        # The labels: openings in preorder; closings by where they end, the innermost (latest opened) first.
        opens, closes = actions.id == nt, actions.id == reduce
        actions.id[opens] = nt + label
        if self.typed_closing:
            place = torch.arange(len(label), device=device)
            order = torch.argsort(nodes.last * (len(place) + 1) + (len(place) - place))
            actions.id[closes] = reduce + label[order]
        return actions

    def _numbers(self, nodes: ConstituencyColumns) -> Tensor:
        """(nodes,) the labels by this system's numbers."""
        if unknown := sorted(set(nodes.names) - set(self.labels)):
            raise InputError(
                f"the trees have phrases labelled {', '.join(unknown)}, which the model does not know."
                f" Known: {', '.join(self.labels)}."
            )
        numbers = torch.tensor([self.labels.index(name) for name in nodes.names], device=nodes.label.device)
        return numbers[nodes.label]

    def _check_limits(self, batch: SentenceBatch, nodes: ConstituencyColumns) -> None:
        if not len(nodes.label):
            return
        change = torch.bincount(nodes.first, minlength=batch.words)
        ended = torch.bincount(nodes.last, minlength=batch.words)
        open_ = change.cumsum(0) - ended.cumsum(0) + ended  # while a word is generated; sentences close all they open
        if int(change.max()) > self.max_chain or int(open_.max()) > self.max_open:
            for tree in batch.trees():
                self.oracle(tree)  # raises for the sentence at fault, by name

    def result(self, state: PhraseState) -> ConstituencyTree:
        return ConstituencyTree(state.words, tuple(Node(label, first, last or 0) for label, first, last in state.nodes))

    def partial(self, state: PhraseState, probability: float, log_probability: float) -> PartialConstituencyTree:
        return PartialConstituencyTree(state.words, state.nodes, probability, log_probability)

    def count_trees(self, words: int) -> int:
        """By counting how many phrases are open after each word."""
        ways = {0: 1}  # open phrases after the words so far -> number of ways
        for word in range(words):
            following: dict[int, int] = {}
            for open_, count in ways.items():
                for begin in range(0 if word else 1, min(self.max_chain, self.max_open - open_) + 1):
                    opened = count * len(self.labels) ** begin
                    for left in [0] if word + 1 == words else range(1, open_ + begin + 1):
                        following[left] = following.get(left, 0) + opened
            ways = following
        return ways.get(0, 0)


def tree_limits(tree: ConstituencyTree) -> tuple[int, int]:
    """The most phrases that are open at once, and the most that begin at one word."""
    begin, end = [0] * (len(tree) + 2), [0] * (len(tree) + 2)
    for node in tree.nodes:
        begin[node.first] += 1
        end[node.last] += 1
    open_ = list(accumulate(begin[word] - end[word - 1] for word in range(1, len(tree) + 1)))
    return max(open_), max(begin)
