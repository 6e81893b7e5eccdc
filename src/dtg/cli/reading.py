"""How a command reads treebanks, as its options say: dependencies, dependencies projected to phrases, or brackets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dtg.cli.options import (
    FunctionsOption,
    NonProjectiveOption,
    ProjectOption,
    RootsOption,
    SkipInvalidOption,
    TagsOption,
    TracesOption,
    TreeFormatOption,
    UnaryOption,
)
from dtg.errors import InputError
from dtg.trees import BracketReading, TreebankReading, TreeReading
from dtg.trees.reading import holds_brackets


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """Options of commands that read treebanks; None where one is not given, so that those that do not apply can be refused."""

    trees: TreeFormatOption = "auto"
    # For dependencies.
    project: ProjectOption = None
    nonprojective: NonProjectiveOption = "lift"
    roots: RootsOption = "error"
    # For brackets.
    unary: UnaryOption = None
    functions: FunctionsOption = None
    traces: TracesOption = None
    tags: TagsOption = None
    skip_invalid: SkipInvalidOption = False

    def reading(self, paths: Sequence[Path]) -> TreeReading:
        """How these files are read."""
        of_brackets = {
            name: value
            for name in ("unary", "functions", "traces", "tags")
            if (value := getattr(self, name)) is not None
        }
        if holds_brackets(paths, self.trees):
            if self.project is not None:
                raise InputError(
                    "--project turns dependencies into phrases, and trees in brackets are phrases already."
                )
            return BracketReading(**of_brackets, skip_invalid=self.skip_invalid)
        if of_brackets:
            name = next(iter(of_brackets))
            raise InputError(
                f"--{name} is about trees in brackets (.ptb, .mrg, .brackets). Are these such trees? "
                "Pass --treebank-format brackets."
            )
        return TreebankReading(self.nonprojective, self.roots, self.skip_invalid, self.project)
