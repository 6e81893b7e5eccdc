"""Sentences whose perplexity is measured: a treebank or lines of text in, those that are chosen out, in their order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice

from dtg.errors import InputError
from dtg.evaluation.perplexity_rows import GivenSentence
from dtg.tables.items import Item, sentence_of
from dtg.text.documents import sentence_id
from dtg.trees import DependencyTree, projectivize


def from_treebank(trees: Iterable[DependencyTree]) -> Iterator[GivenSentence]:
    """Trees from a file, crossing arcs lifted."""
    for tree in trees:
        assert tree.source is not None
        projective = projectivize(tree)
        name = sentence_id(tree.source)
        yield GivenSentence(tree.source.sentence, tree.words, name, projective.tree, len(projective.lifted))


def from_lines(lines: Iterable[Item[str]], *, tokenized: bool) -> Iterator[GivenSentence]:
    """A sentence from each line, split into words unless it is already."""
    return (GivenSentence(line.sentence_id, sentence_of(line.content, tokenized=tokenized).words) for line in lines)


def choose(
    sentences: Iterable[GivenSentence], *, limit: int | None = None, sample: int | None = None, seed: int = 0
) -> list[GivenSentence]:
    """All of them, the first `limit`, or `sample` at random; the same for every model.

    A sentence's place in the lottery follows from the seed, its number and its words. So a smaller sample with the same seed is
    part of a larger one.
    """
    if limit is not None and sample is not None:
        raise InputError("--limit takes the first sentences and --sample some at random; give one of them.")
    if sample is None:
        return list(islice(sentences, limit))
    every = list(sentences)
    if sample > len(every):
        raise InputError(f"a sample of {sample:,} sentences is asked for, but there are {len(every):,}.")
    drawn = sorted(every, key=lambda one: ticket(one, seed))[:sample]
    return sorted(drawn, key=lambda one: one.sentence_id)


def ticket(sentence: GivenSentence, seed: int) -> bytes:
    """Its place in the lottery."""
    return hashlib.sha256("\n".join([str(seed), str(sentence.sentence_id), *sentence.words]).encode()).digest()
