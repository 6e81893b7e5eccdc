"""How a command reads treebanks, as its options say: dependencies, dependencies projected to phrases, or brackets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dtg.errors import InputError
from dtg.trees import BracketReading, TreebankReading, TreeReading
from dtg.trees.conllu import Roots
from dtg.trees.phrases.brackets import Functions, Tags, Traces, Unary
from dtg.trees.phrases.projection import PhraseLabels
from dtg.trees.reading import TreeFormat, holds_brackets
from dtg.trees.treebank import NonProjective


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """The options of a command; None where one is not given, so that those that do not apply can be refused."""

    trees: TreeFormat = "auto"
    skip_invalid: bool = False
    # For dependencies.
    nonprojective: NonProjective = "lift"
    roots: Roots = "error"
    project: PhraseLabels | None = None
    # For brackets.
    unary: Unary | None = None
    functions: Functions | None = None
    traces: Traces | None = None
    tags: Tags | None = None

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
                f"--{name} is about trees in brackets (.ptb, .mrg, .brackets). Are these such trees? Pass --trees brackets."
            )
        return TreebankReading(self.nonprojective, self.roots, self.skip_invalid, self.project)
