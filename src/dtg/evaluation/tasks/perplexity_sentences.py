"""The sentences whose perplexity is measured: from treebanks, with their trees, or from lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dtg.tables.items import Lines as TextLines
from dtg.tables.items import ReadTree, sentence_of
from dtg.text.documents import sentence_id
from dtg.text.sentence import Sentence
from dtg.text.words import ENGLISH
from dtg.trees import ConstituencyTree, DependencyTree, projectivize
from dtg.trees.phrases.projection import PhraseLabels


@dataclass(frozen=True, slots=True)
class MeasuredSentence:
    """A sentence to be measured; from a treebank, with its name and its tree, crossing arcs lifted."""

    sentence_id: int
    words: tuple[str, ...]
    sent_id: str | None = None
    tree: ReadTree | None = None
    lifted_arcs: int = 0
    unsplit: str | None = None  # the line that it is, where that has to be split into words
    heads: tuple[int, ...] | None = None  # of dependencies, crossing arcs lifted, that the tree was made of

    @property
    def structure(self) -> object:
        """The tree of the file, as JSON can hold it; dependencies and what they are projected to are the same data."""
        return self.heads or (self.tree and self.tree.key)

    @property
    def text(self) -> str:
        """The words with spaces between them."""
        return " ".join(self.words)


def from_treebank(trees: Iterable[DependencyTree], project: PhraseLabels | None) -> Iterator[MeasuredSentence]:
    """Trees from a file, crossing arcs lifted, and projected to phrases if that is wanted."""
    for tree in trees:
        assert tree.source is not None
        projective = projectivize(tree)
        found = projective.tree if project is None else ConstituencyTree.from_dependencies(projective.tree, project)
        name = sentence_id(tree.source)
        lifted, heads = len(projective.lifted), projective.tree.heads
        yield MeasuredSentence(tree.source.sentence, tree.words, name, found, lifted, heads=heads)


def from_brackets(trees: Iterable[ConstituencyTree]) -> Iterator[MeasuredSentence]:
    """Phrases from a file."""
    for tree in trees:
        assert tree.source is not None
        yield MeasuredSentence(tree.source.sentence, tree.words, sentence_id(tree.source), tree)


def from_lines(lines: TextLines, *, tokenized: bool) -> Iterator[MeasuredSentence]:
    """A sentence from each line, split into words unless it is already."""
    for line in lines:
        words = sentence_of(line.content, tokenized=tokenized).words
        unsplit = line.content if isinstance(line.content, str) and not tokenized else None
        yield MeasuredSentence(line.sentence_id, words, unsplit=unsplit)


def split_for(language: str, sentence: MeasuredSentence) -> MeasuredSentence:
    """A line as a model splits it; lines are read before the model is known, as English."""
    if sentence.unsplit is None or language == ENGLISH:
        return sentence
    return replace(sentence, words=Sentence.of_text(sentence.unsplit, language).words)


def ticket(sentence: MeasuredSentence, seed: int) -> str:
    """What a sentence's place in the lottery follows from."""
    return "\n".join([str(seed), str(sentence.sentence_id), *sentence.words])
