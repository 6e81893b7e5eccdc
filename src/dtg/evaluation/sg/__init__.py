"""SyntaxGym: suites and surprisals in, which predictions hold out; see docs/syntaxgym.md. No model is needed here."""

from dtg.evaluation.mcnemar import mcnemar
from dtg.evaluation.sg.circuits import CIRCUITS, PAPER_LIKELY, SUITE_SETS, circuit_of
from dtg.evaluation.sg.comparison import Comparison, Overlap, compare
from dtg.evaluation.sg.importing import Imported, import_surprisals
from dtg.evaluation.sg.scores import INTERVALS, Average, Score, Scores, score_items
from dtg.evaluation.sg.suite_files import read_suite, read_suites
from dtg.evaluation.sg.suites import Key, RegionWords, Suite, SuiteSentence, suite_sentences
from dtg.evaluation.sg.surprisals import region_rows, region_surprisals, sentence_row, verdict_rows, word_rows
from dtg.evaluation.sg.verdicts import RULES, ItemResult, Rule, judge_items

__all__ = [
    "CIRCUITS",
    "INTERVALS",
    "PAPER_LIKELY",
    "RULES",
    "SUITE_SETS",
    "Average",
    "Comparison",
    "Imported",
    "ItemResult",
    "Key",
    "Overlap",
    "RegionWords",
    "Rule",
    "Score",
    "Scores",
    "Suite",
    "SuiteSentence",
    "circuit_of",
    "compare",
    "import_surprisals",
    "judge_items",
    "mcnemar",
    "read_suite",
    "read_suites",
    "region_rows",
    "region_surprisals",
    "score_items",
    "sentence_row",
    "suite_sentences",
    "verdict_rows",
    "word_rows",
]
