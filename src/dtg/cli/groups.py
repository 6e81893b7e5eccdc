"""Options that several commands share, as dataclasses: each is declared once, with its name, its help and its default.

A command takes the dataclass as one parameter; its fields are what a user sees and types.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from dtg.cli.options import (
    AccuracyOption,
    BeamOption,
    BoundaryOption,
    ProposalOption,
    TreesOption,
    WordBeamOption,
)


class Without:
    """Names fields of a group that a command does not have, as in Annotated[Group, Without("field")]."""

    def __init__(self, *names: str) -> None:
        self.names = names


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Turn every parameter that is a dataclass into options, its fields; called with these, it puts them together again."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in get_type_hints(command).items() if is_dataclass(kind)}
    shown = list[inspect.Parameter]()
    taken = dict[str, list[str]]()  # the fields of each group
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in groups:
            shown.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        left_out = [one for part in getattr(hints[name], "__metadata__", ()) for one in part.names]
        kinds = get_type_hints(groups[name], include_extras=True)
        some = [field for field in fields(groups[name]) if field.name not in left_out]
        taken[name] = [field.name for field in some]
        shown += [
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=kinds[field.name]
            )
            for field in some
        ]

    @wraps(command)
    def run(**given: Any) -> None:
        made = {name: groups[name](**{one: given.pop(one) for one in some}) for name, some in taken.items()}
        command(**given, **made)

    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]  # what Typer reads
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return run


@dataclass(frozen=True)
class SearchGroup:
    """How a beam search is limited."""

    accuracy: AccuracyOption = None
    beam: BeamOption = None
    word_beam: WordBeamOption = None


@dataclass(frozen=True)
class SurprisalGroup(SearchGroup):
    """The same, and what is counted in a word's surprisal."""

    boundary: BoundaryOption = "next"


@dataclass(frozen=True)
class ProposalGroup:
    """Who proposes trees, and how many."""

    parser: ProposalOption = None
    trees: TreesOption = 300

    @property
    def options(self) -> dict[str, Any]:
        """As the library calls them."""
        return {"proposal": self.parser, "trees": self.trees}
