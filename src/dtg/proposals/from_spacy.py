"""spaCy pipelines as parsers, which propose one tree for a sentence.

The words are taken as they are: spaCy's tokenizer is not used. spaCy may see several sentences in them, each with a root word,
and its arcs may cross; later roots are attached to the first, crossing arcs are lifted, and both are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import torch

from dtg.errors import InputError, MissingExtraError
from dtg.proposals.repair import RepairCounts
from dtg.scoring.proposal import Draws
from dtg.text.words import checked_words
from dtg.trees import DependencyTree
from dtg.trees.conllu import attach_further_roots

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# Components that a tree does not need. Others may feed the parser, and stay.
NOT_NEEDED = ("ner", "lemmatizer", "entity_linker", "entity_ruler", "textcat", "textcat_multilabel", "spancat")

INSTALL = "python -m spacy download en_core_web_sm"


class SpacyParser:
    """The trees of a spaCy pipeline; a `dtg.scoring.proposal.Proposal`. `repairs` counts the trees that were repaired.

    Args:
        pipeline: one that has a parser; `load` finds it by its name.
    """

    def __init__(self, pipeline: Language) -> None:
        if "parser" not in pipeline.pipe_names:
            have = ", ".join(pipeline.pipe_names) or "nothing"
            raise InputError(
                f"the spaCy pipeline {pipeline.meta['lang']}_{pipeline.meta['name']} has no parser; it has {have}.\n"
                f"Use one that has: {INSTALL}."
            )
        self.pipeline, self.repairs = pipeline, RepairCounts()

    @classmethod
    def load(cls, name: str) -> SpacyParser:
        """Load a pipeline.

        Args:
            name: of an installed pipeline, or the folder of one.
        """
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
        """Parse a sentence.

        Args:
            words: the words of the sentence, which are not split further.

        Returns:
            spaCy's tree, repaired, with spaCy's labels.
        """
        return next(self.parse_all([words]))

    def parse_all(self, sentences: Iterable[Sequence[str]]) -> Iterator[DependencyTree]:
        """Parse sentences, in order, as they are read; see `parse`."""
        from spacy.tokens import Doc

        docs = (Doc(self.pipeline.vocab, words=list(checked_words(words))) for words in sentences)
        return (self.tree_of(doc) for doc in self.pipeline.pipe(docs))

    def propose(self, words: Sequence[str], count: int, generator: torch.Generator) -> Draws:
        """Propose the one tree that spaCy has, as a `dtg.scoring.proposal.Proposal`.

        Args:
            words: the words of the sentence.
            count: not used.
            generator: not used.

        Returns:
            The tree, not drawn at random.
        """
        return Draws((self.parse(words),))

    def tree_of(self, doc: Doc) -> DependencyTree:
        """The tree of a parsed text, repaired. In spaCy a root word is its own head; here its head is 0."""
        heads = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
        further_roots = attach_further_roots(heads)
        labels = tuple("root" if token.dep_ == "ROOT" else token.dep_ for token in doc)
        tree = DependencyTree(tuple(token.text for token in doc), tuple(heads), labels)
        return self.repairs.repair(tree, further_roots)
