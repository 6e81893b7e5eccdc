"""Counts of what was changed or left out while a treebank was read; nothing is without being counted here."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from dtg.io.messages import pluralize


@dataclass(frozen=True, slots=True)
class SkippedSentence:
    """One sentence that was left out, and why."""

    path: str
    sentence: int
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, sentence {self.sentence} (line {self.line}): {self.reason}"


@dataclass(slots=True)
class BracketCounts:
    """What was removed or changed in trees that were read from brackets."""

    traces: int = 0  # words that are not there (-NONE-), removed
    emptied: int = 0  # phrases removed because nothing was left of them
    stripped: int = 0  # labels that lost functions or indices
    unwrapped: int = 0  # sentences whose outer brackets, unlabelled or ROOT, TOP, S1, were removed
    without_phrase: int = 0  # sentences that got a phrase over all words, X, because they had none
    unlabelled: int = 0  # brackets inside a sentence that have no label, removed
    unescaped: int = 0  # words with an escape such as -LRB-, undone
    split_words: int = 0  # words with a space in them, made two or more
    collapsed: int = 0  # phrases removed because another is over the same words
    untagged: int = 0  # sentences without part-of-speech tags

    def add(self, other: BracketCounts) -> None:
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def lines(self) -> list[str]:
        """A line for each thing that happened, for people to read."""
        said = [
            (self.traces, f"removed {pluralize(self.traces, 'trace')}"),
            (self.emptied, f"removed {pluralize(self.emptied, 'empty phrase')}"),
            (self.stripped, f"stripped functions or indices from {pluralize(self.stripped, 'label')}"),
            (self.unwrapped, f"removed outer brackets around {pluralize(self.unwrapped, 'sentence')}"),
            (self.without_phrase, f"put a phrase X over {pluralize(self.without_phrase, 'sentence')} without one"),
            (self.unlabelled, f"removed {pluralize(self.unlabelled, 'pair')} of brackets without a label"),
            (self.unescaped, f"undid escapes such as -LRB- in {pluralize(self.unescaped, 'word')}"),
            (self.split_words, f"split {pluralize(self.split_words, 'word')} at spaces"),
            (self.collapsed, f"collapsed {pluralize(self.collapsed, 'phrase')} over the words of another"),
            (self.untagged, f"{pluralize(self.untagged, 'sentence')} without tags"),
        ]
        return [line for count, line in said if count]


@dataclass(slots=True)
class TreebankReport:
    """Counts that grow while trees are read; pass one to `read_conllu`, `read_treebank` or `read_brackets`."""

    sentences: int = 0  # kept
    words: int = 0  # of these
    nonprojective: int = 0  # sentences with crossing arcs, kept or not
    lifted_sentences: int = 0
    lifted_arcs: int = 0
    several_roots: int = 0  # sentences whose later roots were attached to the first
    reattached_roots: int = 0
    brackets: BracketCounts = field(default_factory=BracketCounts)
    skipped: list[SkippedSentence] = field(default_factory=list)

    def lines(self) -> list[str]:
        """A line for each thing that happened, for people to read."""
        text = [f"{pluralize(self.sentences, 'sentence')}, {pluralize(self.words, 'word')}"]
        if self.nonprojective:
            text.append(f"{pluralize(self.nonprojective, 'sentence')} with crossing arcs")
        if self.lifted_sentences:
            text.append(
                f"lifted {pluralize(self.lifted_arcs, 'arc')} in {pluralize(self.lifted_sentences, 'sentence')}"
            )
        if self.several_roots:
            roots, sentences = (
                pluralize(self.reattached_roots, "further root"),
                pluralize(self.several_roots, "sentence"),
            )
            text.append(f"attached {roots} in {sentences}")
        text += self.brackets.lines()
        if self.skipped:
            text.append(f"left out {pluralize(len(self.skipped), 'sentence')}")
        return text

    def as_dict(self) -> dict[str, Any]:
        """All counts by name; those about brackets only where there were any."""
        counts = asdict(self)
        of_brackets = counts.pop("brackets")
        return counts | (of_brackets if any(of_brackets.values()) else {})
