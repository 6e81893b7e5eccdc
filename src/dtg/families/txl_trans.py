"""TXL (trans), the paper's second baseline: a Transformer-XL over arc-standard's actions, without the mask."""

from dtg.families.linear import LinearFamily
from dtg.transitions.arc_standard import ArcStandard
from dtg.transitions.rules import Derivations


class TXLTrans(LinearFamily):
    """Reads the same actions as DTG, as a plain sequence."""

    name = "txl-trans"

    def make_system(self, derivations: Derivations) -> ArcStandard:
        return ArcStandard(derivations=derivations)
