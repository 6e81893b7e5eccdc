"""Rows in words: one tree in, `Row` objects for people out. They come from the same packed rows that training reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from dtg.families.packing import PackedRows, pack
from dtg.families.rows import NOTHING, Kind, KindCode, Row
from dtg.io.json_files import FORMAT_VERSION
from dtg.transitions.action import Action, Operation
from dtg.transitions.batch import ActionBatch, SentenceBatch
from dtg.trees import DependencyTree

if TYPE_CHECKING:
    from dtg.families.family import Family

ROOT_PIECE = "<ROOT>"


@dataclass(frozen=True, slots=True)
class Reading:
    """One sentence as one family reads it: the derivation and every row."""

    family: str
    tree: DependencyTree
    actions: tuple[str, ...]
    rows: tuple[Row, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "format_version": FORMAT_VERSION,
            "family": self.family,
            "words": list(self.tree.words),
            "heads": list(self.tree.heads),
            "actions": list(self.actions),
            "rows": [asdict(row) for row in self.rows],
        }


def read(family: Family, tree: DependencyTree, pieces: Sequence[Sequence[str]] | None = None) -> Reading:
    """Every row of one sentence. `pieces` are those of each word; without them a word is one piece."""
    family.system.check(tree)
    split = [[word] for word in tree.words] if pieces is None else pieces
    batch = SentenceBatch.of([tree], [numbered(split)])
    actions = family.system.derive(batch)
    return in_words(family, tree, split, pack(family, actions, root=0), actions, 0)


def numbered(split: Sequence[Sequence[str]]) -> list[list[int]]:
    """A sentence's pieces as numbers, from 1 in the order they come; 0 is `<ROOT>`."""
    numbers = count(1)
    return [[next(numbers) for _ in word] for word in split]


def in_words(
    family: Family,
    tree: DependencyTree,
    split: Sequence[Sequence[str]],
    packed: PackedRows,
    actions: ActionBatch,
    sentence: int,
) -> Reading:
    """One sentence of a pack whose pieces are `numbered`."""
    names = [ROOT_PIECE, *(piece for word in split for piece in word)]
    shows_distance = family.system.distances != (None,)
    first_action, end = actions.offsets[sentence : sentence + 2].tolist()
    derivation = tuple(
        action_in_words(operation, piece, distance if shows_distance else None, names)
        for operation, piece, distance in zip(
            actions.operation[first_action:end].tolist(),
            actions.piece[first_action:end].tolist(),
            actions.distance[first_action:end].tolist(),
            strict=True,
        )
    )
    first, last = packed.offsets[sentence : sentence + 2].tolist()
    place = slice(first, last)
    columns = (packed.kind, packed.operation, packed.piece, packed.distance, packed.target, packed.keys)
    rows = []
    for index, (kind, operation, piece, distance, target, keys, attends, relative) in enumerate(
        zip(*(column[place].tolist() for column in (*columns, packed.attends, packed.relative)), strict=True)
    ):
        pairs = sorted(zip((key - first for key in attends[:keys]), relative[:keys], strict=True))
        rows.append(
            Row(
                index=index,
                reads=reads(kind, operation, piece, distance if shows_distance else None, names),
                kind=Kind[KindCode(kind).name],
                attends=tuple(key for key, _ in pairs),
                relative=tuple(position for _, position in pairs),
                predicts=None if target == NOTHING else derivation[target - first_action],
            )
        )
    return Reading(family.name, tree, derivation, tuple(rows))


def action_in_words(code: int, piece: int, distance: int | None, names: Sequence[str]) -> str:
    operation = Operation(code)
    arc = operation in (Operation.LEFTARC, Operation.RIGHTARC)
    return str(Action(operation, names[piece] if operation == Operation.GEN else None, distance if arc else None))


def reads(kind: int, operation: int, piece: int, distance: int | None, names: Sequence[str]) -> tuple[str, ...]:
    """What a row reads: the operation, the piece, or both. The second row of an arc is marked with a 2."""
    parts = []
    if operation != NOTHING:
        name = Operation(operation).name
        if operation in (Operation.LEFTARC, Operation.RIGHTARC):
            name += ("2" if kind == KindCode.STACK else "") + ("" if distance is None else f"[{distance}]")
        parts.append(name)
    if piece != NOTHING:
        parts.append(names[piece])
    return tuple(parts)
