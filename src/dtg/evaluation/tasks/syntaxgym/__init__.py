"""SyntaxGym (Hu et al. 2020): suites, their predictions, and the scores of models; see docs/syntaxgym.md."""

from dtg.evaluation.tasks.syntaxgym.importing import Imported, import_surprisals
from dtg.evaluation.tasks.syntaxgym.scores import (
    CIRCUITS,
    INTERVALS,
    PAPER_LIKELY,
    RULES,
    SUITE_SETS,
    ItemResult,
    Rule,
    circuit_of,
    compare_items,
    judge_items,
    region_surprisals,
    score_items,
)
from dtg.evaluation.tasks.syntaxgym.suites import (
    Key,
    RegionWords,
    Suite,
    SuiteSentence,
    read_suite,
    read_suites,
    suite_sentences,
)

__all__ = [
    "CIRCUITS",
    "INTERVALS",
    "PAPER_LIKELY",
    "RULES",
    "SUITE_SETS",
    "Imported",
    "ItemResult",
    "Key",
    "RegionWords",
    "Rule",
    "Suite",
    "SuiteSentence",
    "circuit_of",
    "compare_items",
    "import_surprisals",
    "judge_items",
    "read_suite",
    "read_suites",
    "region_surprisals",
    "score_items",
    "suite_sentences",
]
