"""How the sentences of a command are read and searched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from dtg.cli.output.destination import Destination
from dtg.scoring.kept import KeptTally

if TYPE_CHECKING:
    from dtg.language_model import LanguageModel
    from dtg.scoring.surprisal import SentenceSurprisal
    from dtg.search.options import Accuracy, BeamOptions, Boundary
    from dtg.tables.items import Item, Sentences
    from dtg.text.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Search:
    """How sentences are read and searched."""

    beam: int | None
    word_beam: int | None
    tokenized: bool
    boundary: Boundary = "next"
    columns: tuple[str, ...] = ()
    accuracy: Accuracy | None = None
    kept: KeptTally = field(default_factory=KeptTally)

    @property
    def options(self) -> BeamOptions:
        from dtg.search.options import BeamOptions

        return BeamOptions.of(
            beam=self.beam,
            word_beam=self.word_beam,
            accuracy=self.accuracy,
            boundary=self.boundary,
            columns=self.columns,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the numbers, defaults filled in."""
        options = self.options
        found = {**options.settings(), "tokenized": self.tokenized}
        more = {"boundary": self.boundary} if self.boundary != "next" else {}  # as before there was a choice
        return {**found, **more, **({"columns": list(options.columns)} if options.columns else {})}

    def column_names(self, model: LanguageModel) -> tuple[str, ...]:
        """The columns asked for, as a model has them."""
        from dtg.search.measures.names import changed_names, column_names

        if not self.columns:
            return ()
        columns = column_names(self.options.columns, model.family.views, model.decoder_model.groups[-1])
        return changed_names(columns)

    def group_size(self, sentences: Sentences) -> int:
        """How many sentences are computed together, and computed again after an interruption."""
        return 1 if sentences.typed else self.options.sentences_together

    def surprisals(self, model: LanguageModel, items: Iterable[Item[str | Sentence]]) -> Iterator[SentenceSurprisal]:
        """The surprisals of each sentence, in order, while they are being read. Raw text is split by the model's rules."""
        from dtg.tables.items import sentence_of

        def read() -> Iterator[Sentence]:
            for item in items:
                sentence = sentence_of(item.content, tokenized=self.tokenized, language=model.language)
                if model.tokenizer is not None:  # a word that is far too long is named with its place in the input
                    model.tokenizer.encode_sentence(sentence.words, f"sentence {item.sentence_id} of the input, ")
                yield sentence

        searched = model.surprisal_stream(
            read(),
            beam=self.beam,
            word_beam=self.word_beam,
            accuracy=self.accuracy,
            boundary=self.boundary,
            columns=self.columns,
        )
        for found in searched:
            self.kept.add(found.kept)
            yield found


def warn_of_kept(tally: KeptTally, to: Destination) -> None:
    """Say at how many words the search kept little, if there were any; not to machines that read the standard output."""
    if tally.count and (to.out is not None or to.is_for_people):
        for remark in tally.remarks():
            typer.echo(f"dtg: {remark} (the column kept). --accuracy high keeps more.", err=True)
