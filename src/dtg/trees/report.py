"""Counts of what was changed or left out while a treebank was read; nothing is without being counted here."""

from dataclasses import asdict, dataclass, field
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
class TreebankReport:
    """Counts that grow while trees are read; pass one to `read_conllu` or `read_treebank`."""

    sentences: int = 0  # kept
    words: int = 0  # of these
    nonprojective: int = 0  # sentences with crossing arcs, kept or not
    lifted_sentences: int = 0
    lifted_arcs: int = 0
    several_roots: int = 0  # sentences whose later roots were attached to the first
    reattached_roots: int = 0
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
        if self.skipped:
            text.append(f"left out {pluralize(len(self.skipped), 'sentence')}")
        return text

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
