"""Model families, by name: the rules that turn actions into rows, each with its transition system.

| | arc-standard | arc-eager | arc-swift | words alone | top-down |
|---|---|---|---|---|---|
| `StackFamily` | `dtg` | `dtg-eager` | `dtg-swift` | | `tg` |
| `LinearFamily` | `txl-trans` | | | `txl-tokens` | `plm` |
| `PhraseMaskFamily` | | | | | `plm-mask` |
| `HybridFamily` | `dtg-hybrid` | | | | `tg-hybrid` |

`pushdown` is `PushdownFamily` over shift-attach.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from dtg.errors import InputError, UnknownNameError
from dtg.families.family import ARC_REPRESENTATIONS, ArcRepresentation, Family
from dtg.families.hybrid import HybridFamily, HybridPhraseFamily
from dtg.families.linear import LinearFamily
from dtg.families.packing import Dense, PackedRows, PackedView, pack
from dtg.families.phrases import PhraseMaskFamily, PhraseStackFamily
from dtg.families.pushdown import PushdownFamily
from dtg.families.rows import Kind, LaneRows, LaneView, Row
from dtg.families.stack import StackFamily
from dtg.io.settings import check_choice
from dtg.transitions.arcs.arc_eager import ArcEager
from dtg.transitions.arcs.arc_standard import ArcStandard
from dtg.transitions.arcs.arc_standard_released import ReleasedArcStandard
from dtg.transitions.arcs.arc_swift import ArcSwift
from dtg.transitions.rules import Derivations
from dtg.transitions.shift_attach import ShiftAttach
from dtg.transitions.system import TransitionSystem
from dtg.transitions.top_down import TopDown
from dtg.transitions.words import Words

# How a sentence ends: by an arc from <ROOT> like any other, or, as in the authors' released models, by an operation POPROOT.
End = Literal["arc", "pop_root"]


@dataclass(frozen=True, slots=True)
class FamilyEntry:
    """A rule that makes rows, and the transition system whose actions it reads."""

    rule: type[Family]
    system: type[TransitionSystem]
    released: type[TransitionSystem] | None = None  # instead of `system` in the authors' released models
    settings: Mapping[str, Any] = field(
        default_factory=dict
    )  # of the system, where they are not the system's own defaults


FAMILIES: dict[str, FamilyEntry] = {
    "dtg": FamilyEntry(StackFamily, ArcStandard, released=ReleasedArcStandard),
    "dtg-eager": FamilyEntry(StackFamily, ArcEager),
    "dtg-swift": FamilyEntry(StackFamily, ArcSwift),
    "txl-trans": FamilyEntry(LinearFamily, ArcStandard, released=ReleasedArcStandard),
    "txl-tokens": FamilyEntry(LinearFamily, Words),
    "tg": FamilyEntry(PhraseStackFamily, TopDown, settings={"typed_closing": True}),
    "plm": FamilyEntry(LinearFamily, TopDown, settings={"typed_closing": False}),
    "pushdown": FamilyEntry(PushdownFamily, ShiftAttach),
    "plm-mask": FamilyEntry(PhraseMaskFamily, TopDown, settings={"typed_closing": False}),
    "dtg-hybrid": FamilyEntry(HybridFamily, ArcStandard),
    "tg-hybrid": FamilyEntry(HybridPhraseFamily, TopDown, settings={"typed_closing": True}),
}

__all__ = [
    "ARC_REPRESENTATIONS",
    "FAMILIES",
    "ArcRepresentation",
    "Dense",
    "End",
    "Family",
    "FamilyEntry",
    "Kind",
    "LaneRows",
    "LaneView",
    "PackedRows",
    "PackedView",
    "Row",
    "get",
    "pack",
]


def get(
    name: str,
    *,
    arc_representation: ArcRepresentation = "word+arc",
    derivations: Derivations = "canonical",
    end: End = "arc",
    **options: Any,
) -> Family:
    """The family called `name`.

    Args:
        name: one of `FAMILIES`.
        arc_representation: what the rows of an arc read: its head, the operation, or both.
        derivations: "canonical" gives each tree one derivation, "all" lifts the clauses that are there only for that.
        end: how a sentence ends; "pop_root" is for the authors' released models.
        options: of the family's transition system, such as arc-swift's `distance_limit` or top-down's `labels`, or of its
            rule, such as the `memory` of hybrids. Options that neither has, and those that are None, are left out, so that
            one set of settings serves all families.

    Returns:
        A family, with `rows(tree)` for looking at, and `begin` and `advance` for training and search.
    """
    if name not in FAMILIES:
        raise UnknownNameError("model family", name, FAMILIES)
    check_choice("end", end, get_args(End))
    entry = FAMILIES[name]
    system = entry.system if end == "arc" else entry.released
    if system is None:
        raise InputError(f"{name} has no pop_root ending; released models of that kind do not exist.")
    given = {option: value for option, value in options.items() if value is not None}
    of_system = {option: value for option, value in given.items() if option in system.options}
    of_rule = {option: value for option, value in given.items() if option in entry.rule.options}
    made = system(derivations=derivations, **{**entry.settings, **of_system})
    return entry.rule(name, made, arc_representation=arc_representation, **of_rule)
