"""The parser: a distribution over the trees of a sentence, from which trees are found and drawn."""

from dtg.parser.biaffine import BiaffineParser
from dtg.parser.config import ParserConfig
from dtg.parser.crf.projective import BestTrees, DrawnTrees, ProjectiveCRF, TreeList
from dtg.parser.crf.spans import BestPhrases, DrawnPhrases, PhraseList, SpanCRF
from dtg.parser.loading import load_parser
from dtg.parser.parser import ParsedTree, Parser
from dtg.parser.span_parser import SpanParser

__all__ = [
    "BestPhrases",
    "BestTrees",
    "BiaffineParser",
    "DrawnPhrases",
    "DrawnTrees",
    "ParsedTree",
    "Parser",
    "ParserConfig",
    "PhraseList",
    "ProjectiveCRF",
    "SpanCRF",
    "SpanParser",
    "TreeList",
    "load_parser",
]
