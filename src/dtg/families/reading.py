"""Rows in words: `Row` objects of one tree for people, made from the same packed rows that training reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import torch

from dtg.families.packing import PackedRows, PackedView, pack
from dtg.families.rows import KINDS, Row, RowView
from dtg.io.json_files import FORMAT_VERSION
from dtg.transitions.action import NOTHING, ROLES, Action, Operation, describe
from dtg.transitions.batch import ActionBatch, SentenceBatch, check_pieces
from dtg.trees.kinds import Tree
from dtg.trees.phrases.binarization import BinaryTree
from dtg.trees.phrases.constituency import ConstituencyTree
from dtg.trees.tree import DependencyTree

if TYPE_CHECKING:
    from dtg.families.family import Family

ROOT_PIECE = "<ROOT>"


@dataclass(frozen=True, slots=True)
class Reading:
    """One sentence as one family reads it: the derivation and every row."""

    family: str
    tree: Tree
    actions: tuple[str, ...]
    rows: tuple[Row, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        structure: dict[str, Any] = {}
        if isinstance(self.tree, DependencyTree):
            structure = {"heads": list(self.tree.heads)}
        elif isinstance(self.tree, ConstituencyTree):
            structure = {"nodes": [list(node) for node in self.tree.key]}
        elif isinstance(self.tree, BinaryTree):
            structure = {"spans": [list(span) for span in self.tree.spans]}
        rows = [asdict(row) for row in self.rows]
        for row in rows:
            if not row["views"]:
                del row["views"]
        return {
            "format_version": FORMAT_VERSION,
            "family": self.family,
            "words": list(self.tree.words),
            **structure,
            "actions": list(self.actions),
            "rows": rows,
        }


def read(family: Family, tree: Tree, pieces: Sequence[Sequence[str]] | None = None) -> Reading:
    """Every row of one sentence. `pieces` are the subwords of each word; without them a word is one subword."""
    family.system.check(tree)
    split = [[word] for word in tree.words] if pieces is None else pieces
    check_pieces(tree.words, split)
    batch = SentenceBatch.of([tree], [numbered(split)])
    actions = family.system.derive(batch)
    return in_words(family, tree, split, pack(family, actions, root=0), actions, 0)


def numbered(split: Sequence[Sequence[str]]) -> list[list[int]]:
    """A sentence's subwords as numbers, from 1 in the order they come; 0 is `<ROOT>`."""
    numbers = count(1)
    return [[next(numbers) for _ in word] for word in split]


def in_words(
    family: Family,
    tree: Tree,
    split: Sequence[Sequence[str]],
    packed: PackedRows,
    actions: ActionBatch,
    sentence: int,
) -> Reading:
    """One sentence of a pack whose subwords are `numbered`."""
    names = [ROOT_PIECE, *(piece for word in split for piece in word)]
    known = family.system.table.actions
    first_action, end = actions.offsets[sentence : sentence + 2].tolist()
    derivation = tuple(
        str(known[number] if piece == NOTHING else Action(Operation.GEN, names[piece]))
        for number, piece in zip(
            actions.id[first_action:end].tolist(), actions.piece[first_action:end].tolist(), strict=True
        )
    )
    first, last = packed.offsets[sentence : sentence + 2].tolist()
    columns = (packed.kind, packed.action, packed.piece, packed.target, packed.second)
    rows = []
    for index, (kind, action, piece, target, second) in enumerate(
        zip(*(column[first:last].tolist() for column in columns), strict=True)
    ):
        operation = () if action == NOTHING else (read_action(known[action], second),)
        views = tuple(
            view_of_row(name, view, first + index, first) for name, view in zip(family.views, packed.views, strict=True)
        )
        rows.append(
            Row(
                index=index,
                reads=operation if piece == NOTHING else (*operation, names[piece]),
                kind=KINDS[kind],
                attends=views[0].attends,
                relative=views[0].relative,
                predicts=None if target == NOTHING else derivation[target - first_action],
                views=views if len(views) > 1 or views[0].channel is not None else (),
            )
        )
    return Reading(family.name, tree, derivation, tuple(rows))


def view_of_row(name: str, view: PackedView, row: int, first: int) -> RowView:
    """What one row sees, in the order of rows; `first` is the first row of its sentence."""
    keys = int(view.keys[row])
    attends, order = torch.sort(view.attends[row, :keys] - first)
    channel = None if view.channel is None else tuple(view.channel[row, :keys][order].tolist())
    return RowView(name, tuple(attends.tolist()), tuple(view.relative[row, :keys][order].tolist()), channel)


def read_action(action: Action, second: bool) -> str:
    """An operation as a row reads it. The second row of one that composes is marked with a 2."""
    composes = ROLES[action.operation].composes
    return describe(action.operation.name + ("2" if second and composes else ""), action.argument)
