"""Distributions over trees, and the parser that defines them."""

from dtg.parser.config import ParserConfig
from dtg.parser.crf.projective import BestTrees, DrawnTrees, ProjectiveCRF, TreeList
from dtg.parser.model import BiaffineParser
from dtg.parser.uses import ParsedTree

__all__ = ["BestTrees", "BiaffineParser", "DrawnTrees", "ParsedTree", "ParserConfig", "ProjectiveCRF", "TreeList"]
