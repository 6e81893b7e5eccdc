"""The parser: a distribution over the trees of a sentence, from which trees are found and drawn."""

from dtg.parser.biaffine import BiaffineParser
from dtg.parser.config import ParserConfig
from dtg.parser.crf.projective import BestTrees, DrawnTrees, ProjectiveCRF, TreeList
from dtg.parser.parser import ParsedTree, Parser

__all__ = [
    "BestTrees",
    "BiaffineParser",
    "DrawnTrees",
    "ParsedTree",
    "Parser",
    "ParserConfig",
    "ProjectiveCRF",
    "TreeList",
]
