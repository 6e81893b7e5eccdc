"""Distributions over trees, and the parser that defines them."""

from dtg.parser.config import ParserConfig
from dtg.parser.crf.projective import ProjectiveCRF
from dtg.parser.crf.results import BestTrees, DrawnTrees, TreeList
from dtg.parser.model import BiaffineParser
from dtg.parser.uses import ParsedTree

__all__ = ["BestTrees", "BiaffineParser", "DrawnTrees", "ParsedTree", "ParserConfig", "ProjectiveCRF", "TreeList"]
