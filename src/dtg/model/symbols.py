"""Tokens and classes: what a model embeds and what it predicts, for every action of a family.

A *token* has an embedding: the vocabulary's subwords first, then operations, `<END>`, and, if they are untied, the second
rows of actions that compose. A *class* is what the factored head chooses between: GEN, `<END>`, and operations. GEN is the
class GEN and the subword's token; with the joint head every other action is a token, with the factored one a class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from dtg.families import Family, PackedRows
from dtg.model.config import HeadName, ModelConfig
from dtg.transitions.action import NOTHING, ROLES, Operation
from dtg.transitions.batch import ActionBatch
from dtg.transitions.table import FINISH, GENERATE


@dataclass(frozen=True, slots=True)
class Targets:
    """What rows predict: (rows,) each."""

    class_: Tensor  # NOTHING with the joint head
    token: Tensor  # NOTHING where the class says it all
    generating: Tensor  # (rows with a token,) which have one

    @classmethod
    def of(cls, class_: Tensor, token: Tensor) -> Targets:
        """From the class and the token of each row. On a GPU this waits for it, so it comes before the layers."""
        return cls(class_, token, (token != NOTHING).nonzero()[:, 0])


@dataclass(frozen=True, slots=True)
class SymbolTensors:
    """The columns of `Symbols` on one device; the index -1 finds NOTHING."""

    read: Tensor  # (2, ids + 1) the tokens of first rows and of second rows
    target: Tensor  # (ids + 1,)
    classes: Tensor  # (ids + 1,)
    not_words: Tensor  # the tokens that the token softmax ranges over and GEN does not generate


@dataclass(frozen=True)
class Symbols:
    """What every action is to a model, by the action's id."""

    pieces: int
    read: tuple[int, ...]  # the token that a row reads of the action that made it; NOTHING where there is none
    second: tuple[int, ...]  # the same for the second row of an action that composes
    target: tuple[int, ...]  # the token that is predicted for the action; NOTHING for GEN, whose token is the subword
    classes: tuple[int, ...]  # of the factored head; NOTHING with the joint one
    class_count: int
    tokens: int  # with an embedding
    predicted_tokens: int  # the token softmax ranges over the first tokens, up to this number
    choices: int  # the ids that the output head chooses among are the first ones, up to this number
    released: bool = False
    _on_device: dict[torch.device, SymbolTensors] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, config: ModelConfig, family: Family) -> Symbols:
        """The paper's profile: operations stand behind the subwords, each id's after the one before it."""
        table = family.system.table
        # What a token is attached to is predicted by a head of its own, and not read.
        others = [number for number in range(FINISH + 1, len(table)) if table.entries[number][0] != Operation.ATTACH]
        attached = [NOTHING] * (len(table) - FINISH - 1 - len(others))
        read = [NOTHING, NOTHING, *(config.vocabulary + place for place, _ in enumerate(others)), *attached]
        following = config.vocabulary + len(others)
        joint = config.head == "joint"
        target = [NOTHING] * len(table)
        if joint:
            target = [NOTHING, following, *read[FINISH + 1 :]]
            following += 1
        predicted = following if joint else config.vocabulary
        second = list(read)
        if family.has_compose_rows and not config.tied_arc_rows:
            composing = [number for number in others if ROLES[table.entries[number][0]].composes]
            for place, number in enumerate(composing):
                second[number] = following + place
            following += len(composing)
        return cls(
            pieces=config.vocabulary,
            read=tuple(read),
            second=tuple(second),
            target=tuple(target),
            classes=(NOTHING,) * len(table) if joint else (*range(FINISH + 1 + len(others)), *attached),
            class_count=0 if joint else FINISH + 1 + len(others),
            choices=FINISH + 1 + len(others),
            tokens=following,
            predicted_tokens=predicted,
        )

    @classmethod
    def of_released(cls, vocabulary: int, head: HeadName, ids: Mapping[str, int], family: Family) -> Symbols:
        """The released profile: operations, pop_root and the end are vocabulary items; classes are pad, left, right, gen."""
        tokens = {
            Operation.GEN: NOTHING,
            Operation.END: ids["eos"],
            Operation.LEFTARC: ids["left_arc"],
            Operation.RIGHTARC: ids["right_arc"],
            Operation.POPROOT: ids["pop_root"],
        }
        classes = {
            Operation.GEN: 3,
            Operation.END: 3,
            Operation.LEFTARC: 1,
            Operation.RIGHTARC: 2,
            Operation.POPROOT: 3,
        }
        operations = [operation for operation, _ in family.system.table.entries]
        factored = head == "factored"
        read = tuple(NOTHING if code == Operation.END else tokens[code] for code in operations)
        # Of the four classes only "gen" leaves open what comes: a word, pop_root or the end.
        is_spelt = [not factored or classes[code] == classes[Operation.GEN] for code in operations]
        return cls(
            pieces=vocabulary,
            read=read,
            second=read,
            target=tuple(tokens[code] if spelt else NOTHING for code, spelt in zip(operations, is_spelt, strict=True)),
            classes=tuple(classes[code] if factored else NOTHING for code in operations),
            class_count=4 if factored else 0,
            tokens=vocabulary,
            predicted_tokens=vocabulary,
            choices=len(operations),
            released=True,
        )

    def on(self, device: torch.device) -> SymbolTensors:
        """The columns as tensors on a device; they are made once."""
        if device not in self._on_device:
            with torch.inference_mode(False):
                self._on_device[device] = SymbolTensors(
                    read=torch.tensor([(*self.read, NOTHING), (*self.second, NOTHING)], device=device),
                    target=torch.tensor((*self.target, NOTHING), device=device),
                    classes=torch.tensor((*self.classes, NOTHING), device=device),
                    not_words=torch.tensor([token for token in self.target if token != NOTHING], device=device),
                )
        return self._on_device[device]

    def read_rows(self, packed: PackedRows) -> tuple[Tensor, Tensor]:
        """The tokens that packed rows read: (operation, subword), NOTHING where there is none."""
        return self.tokens_read(packed.action, packed.second), packed.piece

    def tokens_read(self, ids: Tensor, second: Tensor | bool) -> Tensor:
        """The tokens of the actions that rows read, NOTHING where they read none; `second` rows may have their own."""
        read = self.on(ids.device).read
        if isinstance(second, bool):
            return read[int(second)][ids]
        return read[second.long(), ids]

    def targets(self, actions: ActionBatch, places: Tensor) -> Targets:
        """What the actions at these indices are, as class and token."""
        ids, known = actions.id[places], self.on(places.device)
        token = torch.where(ids == GENERATE, actions.piece[places], known.target[ids])
        return Targets.of(known.classes[ids], token)

    def words(self, piece: Tensor) -> Targets:
        """The targets of generating these subwords."""
        return Targets.of(torch.full_like(piece, self.classes[GENERATE]), piece)
