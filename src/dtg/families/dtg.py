"""DTG, the paper's model: arc-standard simulated by the attention mask (sections 3.1 to 3.3)."""

from dtg.families.stack import StackFamily
from dtg.transitions.arc_standard import ArcStandard
from dtg.transitions.rules import Derivations


class DTG(StackFamily):
    """Head and dependent are both masked once they are composed; the composed row stands for the head."""

    name = "dtg"

    def make_system(self, derivations: Derivations) -> ArcStandard:
        return ArcStandard(derivations=derivations)
