"""Tokens and classes: what a model embeds and what it predicts, for every action of a family.

A *token* has an embedding: the vocabulary's pieces first, then operations, `<END>`, and, if they are untied, the second
rows of arcs. A *class* is what the factored head chooses between: GEN, `<END>`, and operations. Every action is a class,
a token, or both: GEN is the class GEN and the piece's token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.families import Family, KindCode, PackedRows
from dtg.model.config import HeadName, ModelConfig
from dtg.transitions import Operation
from dtg.transitions.batch import ActionBatch

NONE = -1


@dataclass(frozen=True, slots=True)
class Targets:
    """What rows predict: (rows,) each."""

    class_: Tensor  # NONE with the joint head
    token: Tensor  # NONE where the class says it all


@dataclass(frozen=True)
class Symbols:
    """Numbers for actions. `operations` lists (operation, distance) in the order of their tokens and classes."""

    pieces: int
    operations: tuple[tuple[Operation, int], ...]
    operation_tokens: dict[tuple[Operation, int], int]
    second_row_tokens: dict[tuple[Operation, int], int]
    end_token: int  # NONE if `<END>` is only a class
    pop_root_token: int  # NONE but in released models
    classes: dict[Operation | tuple[Operation, int], int]  # GEN, END and operations; empty with the joint head
    class_count: int
    tokens: int  # with an embedding
    predicted_tokens: int  # the first so many are what the token softmax ranges over

    @classmethod
    def of(cls, config: ModelConfig, family: Family) -> Symbols:
        """The paper's profile: operations stand behind the pieces."""
        operations = tuple(
            (operation, distance or 1)
            for operation in (Operation.LEFTARC, Operation.RIGHTARC, Operation.POP)
            if operation in family.system.rules
            for distance in (family.system.distances if operation != Operation.POP else (1,))
        )
        first = config.vocabulary
        tokens = {key: first + place for place, key in enumerate(operations)}
        following = first + len(operations)
        joint = config.head == "joint"
        end_token = following if joint else NONE
        following += joint
        predicted = following if joint else config.vocabulary
        second = dict(tokens)
        if family.doubles_arcs and not config.tied_arc_rows:
            arcs = [key for key in operations if key[0] != Operation.POP]
            second |= {key: following + place for place, key in enumerate(arcs)}
            following += len(arcs)
        classes: dict[Operation | tuple[Operation, int], int] = {}
        if not joint:
            classes = {Operation.GEN: 0, Operation.END: 1}
            classes |= {key: 2 + place for place, key in enumerate(operations)}
        return cls(
            pieces=config.vocabulary,
            operations=operations,
            operation_tokens=tokens,
            second_row_tokens=second,
            end_token=end_token,
            pop_root_token=NONE,
            classes=classes,
            class_count=len(classes),
            tokens=following,
            predicted_tokens=predicted,
        )

    @classmethod
    def released(cls, vocabulary: int, head: HeadName, ids: Mapping[str, int]) -> Symbols:
        """The released profile: operations, pop_root and the end are vocabulary items; classes are pad, left, right, gen."""
        left, right = (Operation.LEFTARC, 1), (Operation.RIGHTARC, 1)
        tokens = {left: ids["left_arc"], right: ids["right_arc"]}
        classes: dict[Operation | tuple[Operation, int], int] = {}
        if head == "factored":
            classes = {Operation.GEN: 3, Operation.END: 3, left: 1, right: 2}
        return cls(
            pieces=vocabulary,
            operations=(left, right),
            operation_tokens=tokens,
            second_row_tokens=tokens,
            end_token=ids["eos"],
            pop_root_token=ids["pop_root"],
            classes=classes,
            class_count=4 if classes else 0,
            tokens=vocabulary,
            predicted_tokens=vocabulary,
        )

    def read(self, packed: PackedRows) -> tuple[Tensor, Tensor]:
        """The tokens that packed rows read."""
        return self.tokens_read(packed.operation, packed.piece, packed.distance, packed.kind == KindCode.STACK)

    def tokens_read(self, operation: Tensor, piece: Tensor, distance: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        """(operation token, piece token) of each row, NONE where there is none.

        `second` (rows,) is true for the second row of an arc, which may have an embedding of its own.
        """
        token = torch.full_like(piece, NONE)
        for (code, far), first_token in self.operation_tokens.items():
            found = (operation == code) & (distance == far)
            token = torch.where(found, first_token, token)
            if (second_token := self.second_row_tokens[code, far]) != first_token:
                token = torch.where(found & second, second_token, token)
        if self.pop_root_token != NONE:
            token = torch.where(operation == Operation.POPROOT, self.pop_root_token, token)
        return token, piece

    def targets(self, actions: ActionBatch, places: Tensor, ends_by_pop_root: Tensor | None = None) -> Targets:
        """What the actions at `places` are, as class and token."""
        code, distance = actions.operation[places], actions.distance[places]
        generates = code == Operation.GEN
        token = torch.where(generates, actions.piece[places], NONE)
        class_ = torch.full_like(code, NONE)
        if self.classes:
            class_ = torch.where(generates, self.classes[Operation.GEN], class_)
            class_ = torch.where(code == Operation.END, self.classes[Operation.END], class_)
        for key in self.operations:
            found = (code == key[0]) & (distance == key[1])
            if self.classes:
                class_ = torch.where(found, self.classes[key], class_)
            else:
                token = torch.where(found, self.operation_tokens[key], token)
        token = torch.where(code == Operation.END, self.end_token, token)
        if ends_by_pop_root is not None:
            token = torch.where(ends_by_pop_root, self.pop_root_token, token)
            if self.classes:
                class_ = torch.where(ends_by_pop_root, self.classes[Operation.GEN], class_)
        return Targets(class_, token)
