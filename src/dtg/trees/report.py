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
        text = [f"{number(self.sentences, 'sentence')}, {number(self.words, 'word')}"]
        if self.nonprojective:
            text.append(f"{number(self.nonprojective, 'sentence')} with crossing arcs")
        if self.lifted_sentences:
            text.append(f"lifted {number(self.lifted_arcs, 'arc')} in {number(self.lifted_sentences, 'sentence')}")
        if self.several_roots:
            roots, sentences = number(self.reattached_roots, "further root"), number(self.several_roots, "sentence")
            text.append(f"attached {roots} in {sentences}")
        if self.skipped:
            text.append(f"left out {number(len(self.skipped), 'sentence')}")
        return text

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def number(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
