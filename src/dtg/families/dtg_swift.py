"""DTG-swift: arc-swift simulated by the attention mask (section 3.4 and appendix A)."""

from dtg.families.stack import StackFamily
from dtg.transitions.arc_swift import ArcSwift
from dtg.transitions.rules import Derivations


class DTGSwift(StackFamily):
    """An arc composes the head with all items it reaches over; they are masked, but RIGHTARC's dependent stays."""

    name = "dtg-swift"

    def make_system(self, derivations: Derivations) -> ArcSwift:
        return ArcSwift(derivations=derivations)
