"""Everything that models can be evaluated on, by name."""

from collections.abc import Mapping

from dtg.evaluation.accuracies import AccuracyTask
from dtg.evaluation.contract import Task
from dtg.evaluation.tasks.garden_paths.task import GardenPaths
from dtg.evaluation.tasks.pairs.blimp import Blimp
from dtg.evaluation.tasks.pairs.task import MinimalPairs
from dtg.evaluation.tasks.parsing import Parsing
from dtg.evaluation.tasks.perplexity import Perplexity
from dtg.evaluation.tasks.phrase_parsing import PhraseParsing
from dtg.evaluation.tasks.phrase_reranking import RerankedPhrases
from dtg.evaluation.tasks.reading.task import ReadingTask
from dtg.evaluation.tasks.reranking import RerankedTrees
from dtg.evaluation.tasks.syntaxgym.task import SyntaxGym

TASKS: Mapping[str, type[Task]] = {
    task.name: task
    for task in (
        Perplexity,
        Blimp,
        SyntaxGym,
        MinimalPairs,
        RerankedTrees,
        Parsing,
        RerankedPhrases,
        PhraseParsing,
        ReadingTask,
        GardenPaths,
    )
}
# The same of phrases, for gold trees in brackets.
OF_PHRASES: Mapping[str, type[Task]] = {"rerank": RerankedPhrases, "parser": PhraseParsing}
PARSER_TASKS = (Parsing, PhraseParsing)
ACCURACY_TASKS: Mapping[str, type[AccuracyTask]] = {task.name: task for task in (SyntaxGym, Blimp, MinimalPairs)}
