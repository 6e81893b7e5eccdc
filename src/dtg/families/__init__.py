"""Model families, by name: the rules that turn actions into rows."""

from dtg.errors import UnknownNameError
from dtg.families.dtg import DTG
from dtg.families.dtg_eager import DTGEager
from dtg.families.dtg_swift import DTGSwift
from dtg.families.family import ARC_REPRESENTATIONS, ArcRepresentation, End, Family
from dtg.families.packing import Dense, PackedRows, pack
from dtg.families.rows import Kind, KindCode, LaneRows, Row
from dtg.families.txl_tokens import TXLTokens
from dtg.families.txl_trans import TXLTrans
from dtg.transitions.rules import Derivations

FAMILIES: dict[str, type[Family]] = {family.name: family for family in (DTG, DTGEager, DTGSwift, TXLTrans, TXLTokens)}

__all__ = [
    "ARC_REPRESENTATIONS",
    "FAMILIES",
    "ArcRepresentation",
    "Dense",
    "End",
    "Family",
    "Kind",
    "KindCode",
    "LaneRows",
    "PackedRows",
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
) -> Family:
    """The family called `name`."""
    if name not in FAMILIES:
        raise UnknownNameError("model family", name, FAMILIES)
    return FAMILIES[name](arc_representation=arc_representation, derivations=derivations, end=end)
