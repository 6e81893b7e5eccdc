"""What was done to a treebank while it was read: nothing is changed or left out without being counted here."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Skipped:
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
    words: int = 0
    nonprojective: int = 0  # sentences with crossing arcs, kept or not
    lifted_sentences: int = 0
    lifted_arcs: int = 0
    several_roots: int = 0  # sentences whose later roots were attached to the first
    reattached_roots: int = 0
    skipped: list[Skipped] = field(default_factory=list)

    def lines(self) -> list[str]:
        """What happened, a line each, for a person to read; what did not happen is not mentioned."""
        text = [f"{self.sentences:,} sentences, {self.words:,} words"]
        if self.nonprojective:
            text.append(f"{self.nonprojective:,} sentences are not projective")
        if self.lifted_sentences:
            text.append(f"lifted {self.lifted_arcs:,} arcs in {self.lifted_sentences:,} sentences")
        if self.several_roots:
            text.append(f"attached {self.reattached_roots:,} further roots in {self.several_roots:,} sentences")
        if self.skipped:
            text.append(f"left out {len(self.skipped):,} sentences")
        return text

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
