"""Transition systems in their generative form, by name."""

from dtg.errors import UnknownNameError
from dtg.transitions.action import END, GEN, LEFTARC, POP, RIGHTARC, Action, Operation
from dtg.transitions.arc_eager import ArcEager
from dtg.transitions.arc_hybrid import ArcHybrid
from dtg.transitions.arc_standard import ArcStandard
from dtg.transitions.arc_swift import ArcSwift
from dtg.transitions.rules import Derivations
from dtg.transitions.state import State
from dtg.transitions.system import TransitionSystem
from dtg.transitions.words import Words

SYSTEMS: dict[str, type[TransitionSystem]] = {
    system.name: system for system in (ArcStandard, ArcHybrid, ArcEager, ArcSwift, Words)
}

__all__ = [
    "END",
    "GEN",
    "LEFTARC",
    "POP",
    "RIGHTARC",
    "SYSTEMS",
    "Action",
    "Derivations",
    "Operation",
    "State",
    "TransitionSystem",
    "get",
]


def get(name: str, *, derivations: Derivations = "canonical") -> TransitionSystem:
    """The transition system called `name`."""
    if name not in SYSTEMS:
        raise UnknownNameError("transition system", name, SYSTEMS)
    return SYSTEMS[name](derivations=derivations)
