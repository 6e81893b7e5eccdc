"""DTG-eager: arc-eager simulated by the attention mask (section 3.4 and appendix A)."""

from dtg.families.stack import StackFamily
from dtg.transitions.arc_eager import ArcEager
from dtg.transitions.rules import Derivations


class DTGEager(StackFamily):
    """RIGHTARC's dependent stays visible above its composed head until a POP removes it."""

    name = "dtg-eager"

    def make_system(self, derivations: Derivations) -> ArcEager:
        return ArcEager(derivations=derivations)
