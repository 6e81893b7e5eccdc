"""A spaCy pipeline as a parser: words in, its one tree for them out.

The words are taken as they are: spaCy's tokenizer is not used. spaCy may see several sentences in them, each with a root word,
and may let arcs cross; later roots are attached to the first, crossing arcs are lifted, and both are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import torch

from dtg.errors import InputError, MissingExtraError
from dtg.proposals.repair import Changes
from dtg.scoring.proposal import Draws
from dtg.text.words import checked_words
from dtg.trees import DependencyTree
from dtg.trees.conllu import attach_further_roots

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# What a parse does not need, where the pipeline has it. Other components may feed the parser, and stay.
NOT_NEEDED = ("ner", "lemmatizer", "entity_linker", "entity_ruler", "textcat", "textcat_multilabel", "spancat")

INSTALL = "python -m spacy download en_core_web_sm"


class SpacyParser:
    """What a spaCy pipeline proposes; a `dtg.scoring.proposal.Proposal`. Made by `load`, or of a pipeline at hand.

    `changes` counts what was done to its trees.
    """

    def __init__(self, pipeline: Language) -> None:
        if "parser" not in pipeline.pipe_names:
            have = ", ".join(pipeline.pipe_names) or "nothing"
            raise InputError(
                f"the spaCy pipeline {pipeline.meta['lang']}_{pipeline.meta['name']} has no parser; it has {have}.\n"
                f"Use one that has: {INSTALL}."
            )
        self.pipeline, self.changes = pipeline, Changes()

    @classmethod
    def load(cls, name: str) -> SpacyParser:
        """The pipeline that is installed under this name, or is in this folder."""
        try:
            import spacy
        except ImportError:
            raise MissingExtraError("spaCy", "text", "parsing with a spaCy pipeline") from None
        try:
            return cls(spacy.load(name, exclude=NOT_NEEDED))
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(
                f"cannot load the spaCy pipeline {name!r}: {reason}\n"
                f"Install one: {INSTALL}; or give a folder that nlp.to_disk has written."
            ) from None

    def parse(self, words: Sequence[str]) -> DependencyTree:
        """The tree of these words, with spaCy's labels."""
        return next(self.parse_all([words]))

    def parse_all(self, sentences: Iterable[Sequence[str]]) -> Iterator[DependencyTree]:
        """The tree of each sentence, in order, while they are being read."""
        from spacy.tokens import Doc

        docs = (Doc(self.pipeline.vocab, words=list(checked_words(words))) for words in sentences)
        return (self.tree_of(doc) for doc in self.pipeline.pipe(docs))

    def propose(self, words: Sequence[str], count: int, generator: torch.Generator) -> Draws:
        """What `dtg.scoring.proposal.Proposal` asks for: the one tree, whatever `count` is."""
        return Draws((self.parse(words),))

    def tree_of(self, doc: Doc) -> DependencyTree:
        """spaCy has a root word as its own head; here its head is 0."""
        heads = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
        further_roots = attach_further_roots(heads)
        labels = tuple("root" if token.dep_ == "ROOT" else token.dep_ for token in doc)
        tree = DependencyTree(tuple(token.text for token in doc), tuple(heads), labels)
        return self.changes.mend(tree, further_roots)
