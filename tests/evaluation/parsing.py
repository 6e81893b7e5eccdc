"""Scores of a parser without the run that stores them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dtg.evaluation.tasks.parsing import Parsing, parser_scores
from dtg.parser.parser import Parser
from dtg.trees import DependencyTree


def evaluate_parser(parser: Parser, gold: Iterable[DependencyTree], nbest: int = 1) -> dict[str, Any]:
    """Parse the words of gold trees and compare; with `nbest` above 1, also the best tree of each list."""
    task = Parsing((), tuple(gold), nbest).for_model(parser)
    rows = [row for items in task.items() for row in task.measure(parser, items)]
    return parser_scores(rows, nbest, labelled=task.labelled)
