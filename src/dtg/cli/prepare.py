"""`dtg prepare`: treebanks to a corpus that models are trained on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from dtg.cli.options import (
    NonProjectiveChoice,
    NonProjectiveOption,
    RootsChoice,
    RootsOption,
    SkipInvalidOption,
    list_skipped,
    with_progress,
)
from dtg.trees import Skipped

if TYPE_CHECKING:
    from dtg.text import Corpus

SEVERAL = ("--train", "--dev", "--test")


class SeveralFiles(TyperCommand):
    """A command whose `--train`, `--dev` and `--test` take all the files that follow: `--train *.conllu --dev x.conllu`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, repeat_options(args))


def repeat_options(args: list[str]) -> list[str]:
    """`--train a b` as `--train a --train b`, which is what the parser knows."""
    repeated, option, has_value = list[str](), "", False
    for arg in args:
        if arg.startswith("-"):
            option, is_given, _ = arg.partition("=")
            option, has_value = option if option in SEVERAL else "", bool(is_given)
        elif option:
            repeated += [option] if has_value else []
            has_value = True
        repeated.append(arg)
    return repeated


def prepare(
    train: Annotated[list[Path], typer.Option(help="Treebanks to train on (.conllu, .conll, .gz).", metavar="FILE...")],
    dev: Annotated[list[Path], typer.Option(help="Treebanks to follow training with.", metavar="FILE...")],
    out: Annotated[Path, typer.Option(help="The folder to make.", metavar="DIR")],
    test: Annotated[
        list[Path] | None, typer.Option(help="Treebanks to look at once, at the end.", metavar="FILE...")
    ] = None,
    vocabulary: Annotated[
        int, typer.Option(min=1, help="How many pieces the tokenizer may have; it has fewer if the text is small.")
    ] = 8192,
    tokenizer: Annotated[
        Path | None, typer.Option(help="Use this SentencePiece model instead of training one.", metavar="FILE.model")
    ] = None,
    nonprojective: NonProjectiveOption = NonProjectiveChoice.lift,
    roots: RootsOption = RootsChoice.error,
    skip_invalid: SkipInvalidOption = False,
) -> None:
    """Train a tokenizer, encode treebanks, and write both as a folder for dtg train.

    dtg prepare --train en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu --out ewt

    Run again on the same files with the same options, it finds its work done. docs/text.md describes the folder.
    """
    from dtg.text import Reading, prepare_corpus

    files = {"train": train, "dev": dev, "test": test or []}
    reading = Reading(nonprojective.policy, roots.policy, skip_invalid)
    with interruptible():
        prepared = prepare_corpus(
            files, out, vocabulary=vocabulary, tokenizer=tokenizer, reading=reading, progress=with_progress
        )
    if prepared.was_there:
        typer.echo(f"dtg: {out} was made of the same files with the same options; nothing to do.", err=True)
    show(prepared.corpus)


@contextmanager
def interruptible() -> Iterator[None]:
    """Treat a polite request to end (SIGTERM) like Ctrl-C, so that what was begun is cleaned up."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def show(corpus: Corpus) -> None:
    """What is in the corpus on the output stream; what was changed or left out on the error stream."""
    for name, split in corpus.manifest["splits"].items():
        counts = split["counts"]
        typer.echo(
            f"{name:5}  {counts['sentences']:,} sentences, {counts['words']:,} words, {counts['pieces']:,} pieces "
            f"({counts['pieces'] / counts['words']:.2f} a word), {counts['documents']:,} documents"
        )
        for change in changes(counts):
            typer.echo(f"dtg: {name}: {change}.", err=True)
        list_skipped([Skipped(**left_out) for left_out in split["skipped"]], f"{corpus.folder}/manifest.json")
    typer.echo(f"pieces {corpus.tokenizer.size:,} in {corpus.folder / corpus.manifest['tokenizer']['file']}")
    for note in tokenizer_notes(corpus):
        typer.echo(f"dtg: tokenizer: {note}.", err=True)


def changes(counts: dict[str, int]) -> list[str]:
    """What happened to a split's trees; what did not happen is not mentioned."""
    told = {
        f"lifted {counts['lifted_arcs']:,} crossing arcs in {counts['lifted_sentences']:,} sentences": "lifted_arcs",
        f"attached {counts['reattached_roots']:,} further roots to the first": "reattached_roots",
        f"{counts['beyond_arc_swift_limit']:,} sentences have arcs farther than arc-swift's limit of "
        f"{counts['arc_swift_limit']}": "beyond_arc_swift_limit",
        f"left out {counts['skipped']:,} sentences": "skipped",
    }
    return [line for line, name in told.items() if counts[name]]


def tokenizer_notes(corpus: Corpus) -> list[str]:
    """What was not as asked for in training the tokenizer."""
    training = corpus.manifest["tokenizer"]["training"]
    if training is None:
        return []
    notes = []
    if corpus.tokenizer.size < training["requested_size"]:
        notes.append(f"{training['requested_size']:,} pieces were asked for, but the text is too small for so many")
    if training["sampled_words"] < training["words"]:
        notes.append(f"trained on an even sample of {training['sampled_words']:,} of {training['words']:,} words")
    if training["rare_words_let_go"]:
        notes.append(f"{training['rare_words_let_go']:,} occurrences of the rarest words were not counted")
    if training["words_left_out"]:
        notes.append(f"{training['words_left_out']:,} words were too long, or hold characters that are reserved")
    return notes
