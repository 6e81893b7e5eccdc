"""`ActionTable`: the number of every action of a transition system, and what tensors say of each number.

An action's id is its index in derivations, its column among the choices of a search, and its row in the tables that models
keep of tokens and classes. GEN is always 0 and `<END>` is 1; the other operations follow, each with all of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.transitions.action import NOTHING, ROLES, Action, Argument, Operation, Role

GENERATE, FINISH = 0, 1  # the ids of GEN and <END>, in every table


@dataclass(frozen=True, slots=True)
class ActionTensors:
    """An `ActionTable` on one device. A last entry is for NOTHING, so that the index -1 finds it."""

    operation: Tensor  # (ids + 1,)
    argument: Tensor  # (ids + 1,) a number for the argument; 1 where there is none
    rows: Tensor  # (ids + 1,) how many rows the action adds where an action that composes adds two
    adds_row: Tensor  # (ids + 1,) bool
    numbers: Tensor  # (6, ids + 1) what `LaneActions` has as numbers, in its order
    flags: Tensor  # (7 + operations, ids + 1) bool: what `LaneActions` has as flags, in its order
    arguments: Mapping[Operation, Tensor]  # the numbers of each operation's arguments


class ActionTable:
    """Ids for the actions of one system.

    Args:
        arguments: the operations besides GEN and `<END>`, in order, with the arguments of each.
        items_taken: how many items an action takes off the stack before one is put in, where that does not depend on the state.
        roles: what each operation does to rows.
    """

    def __init__(
        self,
        arguments: Mapping[Operation, Sequence[Argument]],
        items_taken: Callable[[Operation, Argument], int] = lambda operation, argument: 0,
        roles: Mapping[Operation, Role] = ROLES,
    ) -> None:
        self.roles = roles
        self.operations = (Operation.GEN, Operation.END, *arguments)
        pairs = [(operation, argument) for operation in arguments for argument in arguments[operation]]
        self.entries: tuple[tuple[Operation, Argument], ...] = (
            (Operation.GEN, None),
            (Operation.END, None),
            *pairs,
        )
        self.actions = tuple(Action(operation, None, argument) for operation, argument in self.entries)
        self.ids = {entry: number for number, entry in enumerate(self.entries)}
        self.first = {operation: self.ids[operation, arguments[operation][0]] for operation in arguments}
        self.first |= {Operation.GEN: GENERATE, Operation.END: FINISH}
        self._items_taken = items_taken
        self._on_device: dict[torch.device, ActionTensors] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def arguments(self, operation: Operation) -> tuple[Argument, ...]:
        """The arguments that an operation may have, in the order of their ids; (None,) if it takes none."""
        return tuple(argument for code, argument in self.entries if code == operation)

    def id_of(self, action: Action) -> int:
        """The id of an action, whatever word it generates."""
        return self.ids[action.operation, action.argument]

    def on(self, device: torch.device) -> ActionTensors:
        """The table's tensors on a device; they are made once."""
        if device not in self._on_device:
            self._on_device[device] = self._tensors(device)
        return self._on_device[device]

    def _tensors(self, device: torch.device) -> ActionTensors:
        roles = [self.roles[operation] for operation, _ in self.entries] + [Role(adds_row=False)]
        operations = [int(operation) for operation, _ in self.entries] + [NOTHING]
        numbers = [self.argument_number(entry) for entry in range(len(self))] + [1]
        taken = [self._items_taken(operation, argument) for operation, argument in self.entries] + [0]
        rows = [role.adds_row + role.composes for role in roles]
        generates = [code == Operation.GEN for code in operations]
        flags = [
            [code == NOTHING for code in operations],
            generates,
            [role.pushes for role in roles],
            [role.composes for role in roles],
            [role.removes for role in roles],
            [role.puts_in for role in roles],
            [role.adds_row for role in roles],
            *([code == operation for code in operations] for operation in self.operations),
        ]
        columns: list[list[int]] = [
            operations,
            numbers,
            taken,
            rows,
            [int(role.composes) for role in roles],
            [int(role.pushes) for role in roles],
        ]
        argument = torch.tensor(numbers, device=device)
        operation = torch.tensor(operations, device=device)
        with torch.inference_mode(False):
            return ActionTensors(
                operation=operation,
                argument=argument,
                rows=torch.tensor(rows, device=device),
                adds_row=torch.tensor(flags[6], device=device),
                numbers=torch.tensor(columns, device=device),
                flags=torch.tensor(flags, device=device),
                arguments={code: argument[operation == code] for code in self.operations},
            )

    def argument_number(self, entry: int) -> int:
        """The argument of an id as a number: itself if it is one, its index among the operation's labels, or 1."""
        operation, argument = self.entries[entry]
        if isinstance(argument, str):
            return entry - self.first[operation]
        return 1 if argument is None else argument
