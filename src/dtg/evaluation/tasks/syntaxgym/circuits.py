"""What published results group suites by: the name of a suite in, its circuit and the sets it is averaged in out.

The six circuits are those of Hu et al. (2020). Of their 34 suites `nn-nv-rpl`, which has a single item, belongs to none.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

CIRCUITS = {  # how the names of its suites begin
    "Agreement": ("number",),
    "Licensing": ("npi", "reflexive"),
    "Garden-path": ("npz", "mvrr"),
    "Gross syntactic state": ("subordination",),
    "Centre embedding": ("center",),
    "Long-distance": ("fgd", "cleft"),
}
PUBLISHED = frozenset(
    "center_embed center_embed_mod cleft cleft_modifier fgd-embed3 fgd-embed4 fgd_hierarchy fgd_object fgd_pp fgd_subject "
    "mvrr mvrr_mod nn-nv-rpl npi_orc_any npi_orc_ever npi_src_any npi_src_ever npz_ambig npz_ambig_mod npz_obj npz_obj_mod "
    "number_orc number_prep number_src reflexive_orc_fem reflexive_orc_masc reflexive_prep_fem reflexive_prep_masc "
    "reflexive_src_fem reflexive_src_masc subordination subordination_orc-orc subordination_pp-pp "
    "subordination_src-src".split()
)
SMALL = frozenset({"nn-nv-rpl"})
EMBEDDED = frozenset({"fgd-embed3", "fgd-embed4"})

PAPER_LIKELY = (
    "The paper's SG scores are most likely: 33 suites, suite mean, first prediction. They are no mean over items (its overlap "
    "table has 685/842 = 81.4 % where it reports 83.9), its released code prints a rate for each suite, of the first "
    "prediction only, and PLM beside it was scored without nn-nv-rpl."
)


@dataclass(frozen=True, slots=True)
class SuiteSet:
    """Suites that are averaged together; `meaning` says which they are."""

    name: str
    suites: frozenset[str]
    meaning: str


SUITE_SETS = (
    SuiteSet("34 suites", PUBLISHED, "all of Hu et al. (2020)"),
    SuiteSet("33 suites", PUBLISHED - SMALL, "without nn-nv-rpl, as Qian et al. (2021)"),
    SuiteSet("31 suites", PUBLISHED - SMALL - EMBEDDED, "without nn-nv-rpl and fgd-embed3/4, as Hu et al. (2020)"),
)


def circuit_of(suite: str) -> str | None:
    """The circuit that a suite belongs to, if any.

    >>> circuit_of("npz_ambig_mod"), circuit_of("nn-nv-rpl")
    ('Garden-path', None)
    """
    for circuit, beginnings in CIRCUITS.items():
        if suite.startswith(beginnings):
            return circuit
    return None


def sets_of(suites: Collection[str]) -> tuple[SuiteSet, ...]:
    """The published sets that are there as a whole; and where the suites are not the published 34, the set of them all."""
    whole = tuple(known for known in SUITE_SETS if known.suites <= set(suites))
    if set(suites) == PUBLISHED:
        return whole
    count = f"{len(suites)} suite" + ("" if len(suites) == 1 else "s")
    return (SuiteSet(f"{count} given", frozenset(suites), "all that were given"), *whole)
