"""Shift-attach (Pushdown Layers, Murty et al. 2023): each token is generated, then attached to constituents on its left.

The stack holds binary constituents. A new token stays alone, or is merged with the k topmost constituents one after another:

GEN(x)      [.. a b] -     ->  [.. a b] x
ATTACH(k)   [.. a b] x     ->  [.. a (b x)]    for k = 1; k = 0 leaves x alone on the stack
<END>       [a] -          when one constituent is left

Tokens are subwords: those of a word first form a right-branching constituent, so a word of m subwords ends with an ATTACH of
m - 1 or more. A first subword with k = 0 leaves open whether the word is over; a later one that stays alone must be continued.
Where the text is known, the last word's ATTACH leaves one constituent: then each binary tree has one derivation.

Features: pending (a token waits to be attached), constituents (on the stack, without it), subwords (of the word so far).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from dtg.errors import InputError, TooFarError
from dtg.transitions.action import GEN, ROLES, Action, Argument, Operation, Role
from dtg.transitions.batch import ActionBatch, BinaryColumns, ConstituencyColumns, SentenceBatch, expand
from dtg.transitions.lanes import Change, FeatureTable, LaneActions, LaneStates
from dtg.transitions.phrases import PhraseCounts
from dtg.transitions.rules import TEXT_GOES_ON, TEXT_IS_DONE, Clause, Derivations, Rules
from dtg.transitions.state import State
from dtg.transitions.system import TransitionSystem
from dtg.transitions.table import FINISH, GENERATE
from dtg.trees.kinds import BINARY, PartialBinaryTree, TreeKind
from dtg.trees.phrases.binarization import BinaryTree

ATTACH_LIMIT = 62
ATTACH = Action(Operation.ATTACH)

TOKEN_IS_PENDING = Clause("a token is to be attached", lambda s, k: s.pending == 1)
NO_TOKEN_IS_PENDING = Clause("no token is to be attached", lambda s, k: s.pending == 0)


@dataclass(frozen=True, slots=True)
class AttachState(State):
    """The constituents so far. Words are tokens here: a state of one sentence knows nothing of subwords."""

    stack: tuple[tuple[int, int], ...] = ()  # constituents, bottom to top: first and last word
    spans: tuple[tuple[int, int], ...] = ()  # all of more than one word that were made
    waiting: bool = False  # the last word is to be attached

    @property
    def pending(self) -> bool:
        return self.waiting

    @property
    def constituents(self) -> int:
        return len(self.stack)

    @property
    def subwords(self) -> int:
        return 1 if self.words else 0

    @property
    def openness(self) -> int:
        return 0


@dataclass(slots=True)
class AttachLanes(LaneStates):
    """The lanes of shift-attach. `items` counts constituents, and `<ROOT>`; tables go by row, in the order rows were made."""

    pending: Tensor  # 1 where a token is to be attached, else 0
    subwords: Tensor  # of the word so far, the pending one included
    openness: Tensor  # of the word: 0 it is over, 1 it may be continued, 2 it must be
    piece: Tensor  # the pending token
    rows: Tensor  # how many rows there are, without <ROOT>
    constituent: Tensor  # (lanes, width) by row: the constituent it is in; 0 is <ROOT>
    depth: Tensor  # (lanes, width) by row: how many constituents of more than one token contain it
    rightmost: Tensor  # (lanes, width) by constituent: its last row

    feature_names = ("pending", "constituents", "subwords", "openness", "last")
    tables = ("constituent", "depth", "rightmost")

    @property
    def constituents(self) -> Tensor:
        return self.items - 1

    @property
    def stack_depth(self) -> Tensor:
        """Constituents; the word that is to be attached is one of them, however many subwords it has."""
        return self.items - 1 + self.pending * (2 - self.subwords)

    def change(self, actions: LaneActions) -> Change:
        attaches = actions.does[Operation.ATTACH]
        lower = torch.where(attaches, self.items - actions.argument, self.items)
        top = self.items - 1
        return Change(top, lower, lower, None, torch.where(attaches, lower, top))

    def apply(self, actions: LaneActions, change: Change) -> None:
        attaches = actions.does[Operation.ATTACH]
        own = self.rows + 1  # the place of the row that is made
        columns = torch.arange(self.depth.shape[1], device=own.device)
        # With constituents numbered before the merge, the one next to the token gains k levels, the next k - 1, ...
        k = actions.argument * attaches
        gain = k - (self.items - self.constituent) + 1
        gain = torch.minimum(gain.clamp(min=0), k)
        self.depth = torch.where(columns < own, self.depth + gain, self.depth)
        self.constituent = torch.where(
            attaches & (columns < own), torch.minimum(self.constituent, change.lower), self.constituent
        )
        self.depth = torch.where(attaches & (columns == own), k, self.depth)
        self.constituent = torch.where(attaches & (columns == own), change.lower, self.constituent)
        self.rightmost.scatter_(1, change.lower, torch.where(attaches, own, self.rightmost.gather(1, change.lower)))
        self.rows = self.rows + attaches.long()
        self.pending = torch.where(actions.idle, self.pending, actions.generates.long())
        self.piece = torch.where(actions.generates, actions.piece, self.piece)
        more = torch.where(actions.starts_word, 1, self.subwords + 1)
        self.subwords = torch.where(actions.generates, more, self.subwords)
        stays_alone = torch.where(k == 0, 1 + (self.subwords > 1).long(), 0)
        self.openness = torch.where(attaches, stays_alone, self.openness)
        self.record(actions, change)


class ShiftAttach(TransitionSystem):
    """Unlabelled binary trees, built by attaching each token to what is on its left."""

    name = "shift-attach"
    kind: ClassVar[TreeKind | None] = BINARY
    lane_states = AttachLanes
    options = ("attach_limit",)
    roles: ClassVar[Mapping[Operation, Role]] = {**ROLES, Operation.GEN: Role(adds_row=False)}
    within_word: ClassVar[Action | None] = ATTACH.at(0)

    def __init__(self, *, derivations: Derivations = "canonical", attach_limit: int = ATTACH_LIMIT) -> None:
        """Make a system; `attach_limit` is how many constituents the stack may hold, hence how many a token may be merged with.

        With `derivations="all"`, the last word need not close the sentence, and `<END>` swallows what is left.
        """
        if attach_limit < 1:
            raise InputError(f"attach_limit must be at least 1, not {attach_limit}.")
        self.attach_limit = attach_limit
        super().__init__(derivations=derivations)

    def make_rules(self) -> Rules:
        """The clauses, with this system's limit in them."""
        most = self.attach_limit
        return {
            Operation.GEN: (NO_TOKEN_IS_PENDING, TEXT_GOES_ON),
            Operation.ATTACH: (
                TOKEN_IS_PENDING,
                Clause("there are as many constituents", lambda s, k: k <= s.constituents),
                Clause("not too many constituents are left", lambda s, k: s.constituents + 1 - k <= most),
                Clause(
                    "subwords that form a word are merged with each other",
                    lambda s, k: (k >= s.subwords - 1) | ((k == 0) & (s.words_left < 0)),
                ),
                Clause(
                    "the last word closes the sentence",
                    lambda s, k: (s.words_left != 0) | (k == s.constituents),
                    canonical=True,
                ),
            ),
            Operation.END: (
                NO_TOKEN_IS_PENDING,
                TEXT_IS_DONE,
                Clause("there is a word", lambda s, k: s.constituents >= 1),
                Clause("the word is over", lambda s, k: s.openness != 2),
                Clause("one constituent is left", lambda s, k: s.constituents == 1, canonical=True),
            ),
        }

    def arguments(self, operation: Operation) -> tuple[Argument, ...]:
        return tuple(range(self.attach_limit + 1)) if operation == Operation.ATTACH else (None,)

    @property
    def limits(self) -> Mapping[str, int]:
        return {"attach_limit": self.attach_limit}

    def initial(self, text: Sequence[str] | None = None) -> AttachState:
        return AttachState(text=None if text is None else tuple(text))

    def describe(self, state: AttachState) -> str:
        return f" with constituents {state.stack}" + (" and a word to be attached" if state.waiting else "")

    def effect(self, state: AttachState, action: Action) -> AttachState:
        match action.operation:
            case Operation.GEN:
                words = (*state.words, action.word or "")
                return replace(state, words=words, waiting=True, last=action.operation)
            case Operation.ATTACH:
                assert isinstance(action.argument, int)
                word = len(state.words)
                left = len(state.stack) - action.argument
                merged = tuple((first, word) for first, _ in reversed(state.stack[left:]))
                whole = merged[-1] if merged else (word, word)
                return replace(
                    state,
                    stack=(*state.stack[:left], whole),
                    spans=(*state.spans, *merged),
                    waiting=False,
                    last=action.operation,
                )
            case _:
                return replace(state, last=action.operation)

    def check(self, tree: Any) -> None:
        """Raise if the tree is not a binary one."""
        if not isinstance(tree, BinaryTree):
            raise InputError(
                f"{self.name} derives binary trees; this is a {type(tree).__name__}. ConstituencyTree.binarize makes them."
            )

    def reaches(self, tree: BinaryTree, subwords: Sequence[int] | None = None) -> bool:
        """False where the stack would hold too many constituents; subwords are constituents until their word is whole."""
        return most_constituents(tree, subwords) <= self.attach_limit

    def steps(self, tree: BinaryTree) -> Iterator[Action]:
        if (most := most_constituents(tree)) > self.attach_limit:
            raise TooFarError(
                f"the tree of {' '.join(tree.words)!r} needs {most} constituents on the stack; the limit is"
                f" {self.attach_limit}. Use a model with a higher limit, or leave the tree out."
            )
        ends = [0] * (len(tree) + 1)
        for _, last in tree.spans:
            ends[last] += 1
        for word, form in enumerate(tree.words, start=1):
            yield GEN(form)
            yield ATTACH.at(ends[word])

    def derive(self, batch: SentenceBatch) -> ActionBatch:
        """Each subword is generated and attached: the last of a word to the word's others, and as the tree says."""
        device, attach = batch.device, self.table.first[Operation.ATTACH]
        merges = merges_of(batch)
        last_pieces = batch.piece_offsets[1:] - 1
        runs = torch.tensor([GENERATE, attach, FINISH], device=device).repeat(len(batch.pieces), 1)
        runs[last_pieces, 1] = attach + merges.clamp(max=self.attach_limit)
        often = torch.ones_like(runs)
        often[:, 2] = 0
        often[last_pieces[batch.last_words], 2] = 1
        self._check_limit(batch, merges)
        return expand(batch, runs.flatten(), often.flatten())

    def _check_limit(self, batch: SentenceBatch, merges: Tensor) -> None:
        """Raise for a sentence that needs more, its subwords counted too."""
        on_stack = held_constituents(batch, merges)
        if batch.words and int(on_stack.max()) > self.attach_limit:
            word = int(on_stack.argmax())
            raise TooFarError(
                f"sentence {int(batch.sentence_of_word[word]) + 1} of the batch needs {int(on_stack.max())} constituents on the"
                f" stack, subwords counted; the limit is {self.attach_limit}. Raise attach_limit, or leave the tree out."
            )

    def open_words(self, features: FeatureTable) -> tuple[Tensor, Tensor]:
        openness: Tensor = features.openness  # type: ignore[attr-defined]
        return openness[:, 0] == 0, openness[:, 0] == 2

    def after_generating(self, features: Tensor, starts_word: Tensor) -> Tensor:
        pending, constituents, subwords, openness, last = features.unbind(1)
        subwords = torch.where(starts_word, 1, subwords + 1)
        ones = torch.ones_like(pending)
        return torch.stack([ones, constituents, subwords, openness, last * 0 + int(Operation.GEN)], dim=1)

    def by_words(self, ids: Sequence[int], subwords: int) -> list[int]:
        return [number - (subwords - 1) if number >= self.table.first[Operation.ATTACH] else number for number in ids]

    def result(self, state: AttachState) -> BinaryTree:
        """What is left on the stack becomes one constituent, as if the last word had been merged with all of it."""
        spans = (*state.spans, *((first, len(state.words)) for first, _ in state.stack[:-1]))
        return BinaryTree(state.words, tuple(sorted(spans, key=lambda span: (span[0], -span[1]))))

    def partial(self, state: AttachState, probability: float, log_probability: float) -> PartialBinaryTree:
        spans = tuple(sorted(state.spans, key=lambda span: (span[0], -span[1])))
        return PartialBinaryTree(state.words, spans, probability, log_probability)

    def count_trees(self, words: int) -> int:
        """Catalan(n - 1), where the limit leaves all of them; by counting how many constituents are on the stack."""
        ways = {0: 1}  # constituents after the words so far -> number of ways
        for _ in range(words):
            following: dict[int, int] = {}
            for held, count in ways.items():
                for left in range(1, min(held + 1, self.attach_limit) + 1):
                    following[left] = following.get(left, 0) + count
            ways = following
        return ways.get(1, 0)


def merges_of(batch: SentenceBatch) -> Tensor:
    """(words,) with how many constituents each word's last subword is merged, the word's other subwords among them.

    Phrases are binarised, right-factored; unary chains count once.
    """
    trees = batch.columns
    if isinstance(trees, BinaryColumns):
        found = torch.bincount(trees.last, minlength=batch.words)
    elif isinstance(trees, ConstituencyColumns):
        found = PhraseCounts.of(trees, batch.words).merges
    else:
        given = "none" if trees is None else type(trees).__name__
        raise InputError(f"binary trees or phrases are needed to derive attachments; this batch has {given}.")
    return found + batch.piece_counts - 1


def held_constituents(batch: SentenceBatch, merges: Tensor) -> Tensor:
    """(words,) how many constituents the stack holds at most, from each word's first subword until its last one is attached."""
    total = batch.piece_counts - merges  # what each word adds to the stack
    after = total.cumsum(0)
    start = (after - total)[batch.word_offsets[:-1]][batch.sentence_of_word]
    # A word's subwords stay on the stack until the last one, which is merged before it is put there.
    return torch.maximum(after, after - total + batch.piece_counts - 1) - start


def most_constituents(tree: BinaryTree, subwords: Sequence[int] | None = None) -> int:
    """How many constituents the stack holds at most, once a token is attached: a word, or one of its subwords."""
    ends = [0] * (len(tree) + 1)
    for _, last in tree.spans:
        ends[last] += 1
    most = held = 0
    for word in range(1, len(tree) + 1):
        pieces = 1 if subwords is None else subwords[word - 1]
        most = max(most, held + pieces - 1, held + 1 - ends[word])
        held += 1 - ends[word]
    return most
