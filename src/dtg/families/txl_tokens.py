"""TXL (tokens), the paper's first baseline: a plain Transformer-XL over words."""

from dtg.families.linear import LinearFamily
from dtg.transitions.rules import Derivations
from dtg.transitions.words import Words


class TXLTokens(LinearFamily):
    """Reads words alone; the tree is not looked at."""

    name = "txl-tokens"

    def make_system(self, derivations: Derivations) -> Words:
        return Words(derivations=derivations)
