"""`dtg prepare`: treebanks and plain text as a corpus that models are trained on."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from dtg.cli.commands.train_parser import HELD_OUT
from dtg.cli.exits import interruptible
from dtg.cli.groups import takes_groups
from dtg.cli.options import (
    DeviceOption,
    LanguageOption,
    ParagraphsOption,
    ParserOption,
    TokenizedOption,
)
from dtg.cli.output.destination import quiet_connections
from dtg.cli.reading import ReadingOptions
from dtg.cli.training import language_of
from dtg.errors import InputError
from dtg.io.processes import launched
from dtg.trees import SkippedSentence
from dtg.trees.report import BracketCounts

if TYPE_CHECKING:
    from dtg.text import Corpus

SEVERAL = ("--train", "--dev", "--test", "--text")
SOME = "treebanks (.conllu, .conll, .ptb, .mrg, .brackets) or text (.txt); also .gz"


# A limit of phrase-structure systems, the count of what a corpus needs, and what it limits.
PHRASE_LIMITS = (
    ("max_open", "most_open", "more open phrases"),
    ("max_chain", "longest_chain", "more phrases that begin at one word"),
    ("attach_limit", "most_constituents", "more constituents on Pushdown's stack"),
)


class SeveralFiles(TyperCommand):
    """A command where `--train`, `--dev`, `--test` and `--text` take all files that follow: `--train *.conllu --dev a.txt`."""

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


@takes_groups
def prepare(
    out: Annotated[Path, typer.Option(help="The folder to make.", metavar="DIR")],
    *,
    train: Annotated[list[Path] | None, typer.Option(help=f"What to train on: {SOME}.", metavar="FILE...")] = None,
    text: Annotated[
        list[Path] | None, typer.Option(help="Text to train on, whatever the files are called.", metavar="FILE...")
    ] = None,
    dev: Annotated[
        list[Path] | None,
        typer.Option(
            help=f"What to follow training with: {SOME}. Without it, one document in {HELD_OUT} of the text is kept for that "
            f"(one sentence in {HELD_OUT}, if there are fewer documents).",
            metavar="FILE...",
        ),
    ] = None,
    test: Annotated[
        list[Path] | None, typer.Option(help=f"What to look at once, at the end: {SOME}.", metavar="FILE...")
    ] = None,
    parser: ParserOption = None,
    language: LanguageOption = None,
    tokenized: TokenizedOption = False,
    paragraphs: ParagraphsOption = False,
    longest: Annotated[
        int, typer.Option(min=1, help="Leave out longer sentences of text; they are counted and listed.")
    ] = 150,
    vocabulary: Annotated[
        int, typer.Option(min=1, help="Subwords of the tokenizer; fewer if the text is small.")
    ] = 8192,
    tokenizer: Annotated[
        Path | None, typer.Option(help="Use this SentencePiece model instead of training one.", metavar="FILE.model")
    ] = None,
    policies: ReadingOptions,
    device: DeviceOption = "auto",
) -> None:
    """Train a tokenizer, encode treebanks and text, and write all as a folder for dtg train.

    dtg prepare --train en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu --out ewt

    dtg prepare --text corpus.txt --dev en_ewt-ud-dev.conllu --out corpus

    dtg prepare --train wsj.mrg --dev wsj-dev.mrg --out wsj

    dtg prepare --train en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu --project head --out ewt-phrases

    dtg prepare --text corpus.txt --parser runs/phrases/best --out corpus-phrases

    The last three make corpora of phrases, for tg, tg-hybrid, plm, plm-mask and pushdown; the others are of dependencies.

    Text has a sentence on each line, and an empty line after each document. It gets its trees from the parser; they are
    kept in DIR.parsed. Run again on the same files with the same options, the command resumes where it was interrupted,
    or finds its work done. docs/text.md describes the folder. `torchrun` shares the parsing (docs/clusters.md).
    """
    from dtg.cli.loading import parser_folder
    from dtg.cli.progress import with_progress
    from dtg.cli.training_text import IS_NEEDED, TextParsing, check_text, is_text
    from dtg.io.rendezvous import joined
    from dtg.parser.loading import kind_of
    from dtg.tables.plain_text import LONGEST, TextReading
    from dtg.text import prepare_corpus

    if launched().count > 1:
        quiet_connections()
    check_text(text or [])
    given = {"train": train or [], "dev": dev or [], "test": test or []}
    # With --treebank-format brackets, .txt files are treebanks too.
    texts = {
        split: [path for path in files if is_text(path) and policies.trees != "brackets"]
        for split, files in given.items()
    }
    treebanks = {split: [path for path in files if path not in texts[split]] for split, files in given.items()}
    texts["train"] += text or []
    texts = {split: files for split, files in texts.items() if files}
    folder = parser_folder(parser)
    has_phrases = bool(texts) and kind_of(folder) == "constituency"
    has_treebanks = any(treebanks.values())
    if has_phrases and not has_treebanks:
        policies = replace(policies, trees="brackets")
    reading = policies.reading([path for files in treebanks.values() for path in files])
    if not texts and (parser is not None or (tokenized, paragraphs, longest) != (False, False, LONGEST)):
        raise InputError("--parser, --tokenized, --paragraphs and --longest are about text, and none is given.")
    spoken = language_of(language, treebanks["train"])
    of_text = TextReading(tokenized, paragraphs, longest, spoken)
    holds_out = not dev and "train" in texts
    with interruptible(), joined() as processes:
        parsing = TextParsing(texts, out, of_text, folder, device, holds_out, has_phrases, processes)
        if not processes.is_main:
            parsing.help()
            return
        prepared = prepare_corpus(
            treebanks,
            out,
            vocabulary=vocabulary,
            tokenizer=tokenizer,
            reading=reading,
            text=parsing.plain_text() if texts else None,
            language=spoken,
            progress=with_progress,
        )
        if prepared.was_there or not texts:
            processes.tell(IS_NEEDED, False)
    if prepared.was_there:
        typer.echo(f"dtg: {out} was made of the same files with the same options; nothing to do.", err=True)
    show(prepared.corpus)


def show(corpus: Corpus) -> None:
    """What is in the corpus on the output stream; what was changed or left out on the error stream."""
    from dtg.cli.progress import list_skipped

    for name, split in corpus.manifest["splits"].items():
        counts = split["counts"]
        typer.echo(
            f"{name:5}  {counts['sentences']:,} sentences, {counts['words']:,} words, {counts['pieces']:,} pieces "
            f"({counts['pieces'] / counts['words']:.2f} a word), {counts['documents']:,} documents"
        )
        for change in changes(counts):
            typer.echo(f"dtg: {name}: {change}.", err=True)
        list_skipped([SkippedSentence(**left_out) for left_out in split["skipped"]], f"{corpus.folder}/manifest.json")
    if corpus.labels:
        typer.echo(f"labels {len(corpus.labels):,}: {' '.join(corpus.labels)}")
    typer.echo(f"pieces {corpus.tokenizer.size:,} in {corpus.folder / corpus.manifest['tokenizer']['file']}")
    for note in tokenizer_notes(corpus):
        typer.echo(f"dtg: tokenizer: {note}.", err=True)


def changes(counts: dict[str, int]) -> list[str]:
    """What happened to a split's trees; what did not happen is not mentioned."""
    told = {
        f"lifted {counts['lifted_arcs']:,} crossing arcs in {counts['lifted_sentences']:,} sentences": "lifted_arcs",
        f"attached {counts['reattached_roots']:,} further roots to the first": "reattached_roots",
    }
    if "arc_swift_limit" in counts:
        told[
            f"{counts['beyond_arc_swift_limit']:,} sentences have arcs farther than arc-swift's limit of "
            f"{counts['arc_swift_limit']}"
        ] = "beyond_arc_swift_limit"
    else:
        told |= {
            f"{counts[f'beyond_{limit}']:,} sentences have {what} than the usual {limit} of {counts[limit]}: up to "
            f"{counts[most]}; dtg train raises it": f"beyond_{limit}"
            for limit, most, what in PHRASE_LIMITS
        }
    told[f"left out {counts['skipped']:,} sentences"] = "skipped"
    lines = [line for line, name in told.items() if counts[name]]
    return bracket_changes(counts) + lines


def bracket_changes(counts: dict[str, int]) -> list[str]:
    """What happened to trees in brackets; nothing, if there were none."""
    names = [one.name for one in fields(BracketCounts)]
    return BracketCounts(**{name: counts[name] for name in names}).lines() if "untagged" in counts else []


def tokenizer_notes(corpus: Corpus) -> list[str]:
    """What was not as asked for in training the tokenizer."""
    training = corpus.manifest["tokenizer"]["training"]
    if training is None:
        return []
    notes = []
    if corpus.tokenizer.size < training["requested_size"]:
        notes.append(f"{training['requested_size']:,} pieces were asked for, but the text is too small for that")
    if training["sampled_words"] < training["words"]:
        notes.append(f"trained on an even sample of {training['sampled_words']:,} of {training['words']:,} words")
    if training["rare_words_let_go"]:
        notes.append(f"{training['rare_words_let_go']:,} occurrences of the rarest words were not counted")
    if training["words_left_out"]:
        notes.append(f"{training['words_left_out']:,} words were too long, or hold characters that are reserved")
    return notes
