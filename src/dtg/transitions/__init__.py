"""Transition systems in their generative form, by name."""

from typing import Any

from dtg.errors import UnknownNameError
from dtg.transitions.action import END, GEN, LEFTARC, POP, RIGHTARC, Action, Operation
from dtg.transitions.arcs.arc_eager import ArcEager
from dtg.transitions.arcs.arc_hybrid import ArcHybrid
from dtg.transitions.arcs.arc_standard import ArcStandard
from dtg.transitions.arcs.arc_standard_released import ReleasedArcStandard
from dtg.transitions.arcs.arc_swift import ArcSwift
from dtg.transitions.rules import Derivations
from dtg.transitions.shift_attach import ShiftAttach
from dtg.transitions.state import State
from dtg.transitions.system import TransitionSystem
from dtg.transitions.table import ActionTable
from dtg.transitions.top_down import TopDown
from dtg.transitions.words import Words

SYSTEMS: dict[str, type[TransitionSystem]] = {
    system.name: system
    for system in (ArcStandard, ArcHybrid, ArcEager, ArcSwift, Words, TopDown, ShiftAttach, ReleasedArcStandard)
}

__all__ = [
    "END",
    "GEN",
    "LEFTARC",
    "POP",
    "RIGHTARC",
    "SYSTEMS",
    "Action",
    "ActionTable",
    "Derivations",
    "Operation",
    "State",
    "TransitionSystem",
    "get",
]


def get(name: str, *, derivations: Derivations = "canonical", **options: Any) -> TransitionSystem:
    """The transition system called `name`.

    Args:
        name: one of `SYSTEMS`.
        derivations: "canonical" gives each tree one derivation, "all" lifts the clauses that are there only for that.
        options: those that the system has, such as arc-swift's `distance_limit`.

    Returns:
        A system with `oracle`, `legal`, `apply` and `tree`.
    """
    if name not in SYSTEMS:
        raise UnknownNameError("transition system", name, SYSTEMS)
    system = SYSTEMS[name]
    if unknown := [option for option in options if option not in system.options]:
        raise UnknownNameError(f"option of {name}", unknown[0], system.options or ("none",))
    return system(derivations=derivations, **options)
