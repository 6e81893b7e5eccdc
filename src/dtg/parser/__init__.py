"""Distributions over trees that a parser defines."""

from dtg.parser.crf import ProjectiveCRF
from dtg.parser.results import BestTrees, DrawnTrees, TreeList

__all__ = ["BestTrees", "DrawnTrees", "ProjectiveCRF", "TreeList"]
