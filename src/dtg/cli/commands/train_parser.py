"""`dtg train-parser`: fit a parser to treebanks, with the loop of `dtg train`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dtg.cli.groups import Without, takes_groups
from dtg.cli.options import LanguageOption, SetOption
from dtg.cli.reading import ReadingOptions
from dtg.cli.training import RunOptions, Tables, changed, language_of, read_config
from dtg.errors import ConfigError, InputError
from dtg.trees import TreebankReport, TreeReading
from dtg.trees.kinds import CONSTITUENCY, DEPENDENCY

if TYPE_CHECKING:
    from dtg.parser import Parser
    from dtg.parser.config import Kind
    from dtg.training import Outcome

HELD_OUT = 20  # without --dev, one of this many training sentences is held out


@takes_groups
def train_parser(
    treebanks: Annotated[
        list[Path],
        typer.Argument(
            help="Treebanks to learn from: dependencies (.conllu, .conll) or phrases in brackets (.ptb, .mrg, .brackets); "
            "also .gz."
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="The run's folder: checkpoints, log, curves, and the best parser.")],
    dev: Annotated[
        list[Path] | None,
        typer.Option(help=f"A treebank to choose the best by; without it, each {HELD_OUT}th sentence is held out."),
    ] = None,
    kind: Annotated[
        Literal["dependency", "constituency"] | None,
        typer.Option(help="Of the parser's trees. [default: as the treebanks' are]"),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="bilstm, transformer, or a pretrained one of the Hugging Face kind: its folder, or its name on the hub. "
            "[default: bilstm]",
            metavar="KIND|DIR|NAME",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="A configuration file, or the name of one that comes with dtg.", metavar="FILE|NAME"),
    ] = None,
    set_: SetOption = None,
    language: LanguageOption = None,
    policies: Annotated[ReadingOptions, Without("project")],
    run: Annotated[RunOptions, Without("fsdp", "score_test")],
) -> None:
    """Train a parser on treebanks; like every run, it can be interrupted and resumed to the same numbers.

    dtg train-parser en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu --out runs/parser

    dtg train-parser en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu --encoder roberta-large --out runs/parser

    dtg train-parser en_ewt-ud-train.conllu --config parser-small --set training.epochs=4 --out runs/parser

    dtg evaluate parser en_ewt-ud-test.conllu --parser runs/parser/best

    dtg train-parser --kind constituency wsj.mrg --dev wsj-dev.mrg --out runs/phrases
    """
    reading = policies.reading([*treebanks, *(dev or [])])
    tables = tables_of(None if config is None else read_config(config), kind, encoder, reading, set_ or [])
    run.runtime()  # mistakes, before treebanks are read
    if language is not None or "language" not in tables["model"]:
        of_texts = treebanks if reading.kind is DEPENDENCY else []  # brackets have no text to split
        tables = {**tables, "model": {**tables["model"], "language": language_of(language, of_texts)}}
    train = read_split(treebanks, "train", reading)
    if dev:
        held_out = read_split(dev, "dev", reading)
    else:
        train, held_out = hold_out(train)
    outcome = train_model(run, out, tables, {"train": train, "dev": held_out})
    run.end(out, outcome, "parser", "word", "The same command with --resume resumes it.")


def tables_of(
    tables: Tables | None, kind: Kind | None, encoder: str | None, reading: TreeReading, changes: Sequence[str]
) -> Tables:
    """The configuration that was named, or the default one, with what options say; what is wrong with it raises."""
    from dtg.parser.config import default_tables

    kind = kind_of(kind, tables, reading)
    tables = default_tables(encoder, kind) if tables is None else tables
    given = {"encoder": encoder} if encoder is not None else {}
    given |= {"kind": kind} if kind == "constituency" else {}
    tables = changed({**tables, "model": {**tables["model"], **given}}, changes)
    check_tables(tables)
    return tables


def kind_of(given: Kind | None, tables: Tables | None, reading: TreeReading) -> Kind:
    """The kind of trees that the treebanks hold; what is said of it elsewhere must agree."""
    found: Kind = "constituency" if reading.kind is CONSTITUENCY else "dependency"
    configured = None if tables is None else tables["model"].get("kind")
    if configured is None and tables is not None and given != "constituency":
        configured = "dependency"
    for wanted, who in ((given, "--kind"), (configured, "the configuration")):
        if wanted is not None and wanted != found:
            files = {DEPENDENCY: "dependencies (CoNLL-U)", CONSTITUENCY: "phrases (brackets)"}[reading.kind]
            raise InputError(
                f"{who} says {wanted}, but the treebanks are read as {files}. Brackets are files named .ptb, .mrg or "
                ".brackets; with --treebank-format brackets, all of them."
            )
    return found


def check_tables(tables: Tables) -> None:
    """Say what is wrong with a configuration before treebanks are read."""
    from dtg.parser import ParserConfig
    from dtg.parser.encoder.subwords import Subwords
    from dtg.training import TrainingConfig

    config = ParserConfig.from_dict(tables["model"])
    if TrainingConfig.from_dict(tables["training"]).embeddings != "random":
        raise ConfigError('[training] embeddings = "corpus" is for language models; leave it out for a parser.')
    if config.is_pretrained:
        Subwords.of(config.encoder)


def read_split(paths: list[Path], name: str, reading: TreeReading) -> list[Any]:
    """The trees of some treebanks; what had to be changed is said."""
    from dtg.cli.progress import show_changes, with_progress

    report = TreebankReport()
    trees = list(with_progress(reading.read(paths, report), report, f"reading {name}"))
    typer.echo(f"dtg: {name}: {report.lines()[0]}.", err=True)
    show_changes(report)
    return trees


def hold_out(trees: list[Any]) -> tuple[list[Any], list[Any]]:
    """Split off every HELD_OUT-th tree for dev."""
    dev = trees[HELD_OUT - 1 :: HELD_OUT]
    if not dev:
        raise InputError(
            f"there are {len(trees)} training sentences, too few to keep one in {HELD_OUT} for dev. Pass --dev FILE."
        )
    train = [tree for place, tree in enumerate(trees, start=1) if place % HELD_OUT]
    typer.echo(f"dtg: no --dev FILE: of {len(trees):,} sentences, {len(dev):,} are kept for dev.", err=True)
    return train, dev


def train_model(run: RunOptions, out: Path, tables: Tables, trees: dict[str, list[Any]]) -> Outcome:
    """Hand over to the library."""
    from dtg.cli.training_progress import ParserReporter
    from dtg.parser import BiaffineParser, ParserConfig, SpanParser
    from dtg.parser.data import ParserCorpus
    from dtg.parser.phrase_data import PhraseCorpus
    from dtg.training import TrainingConfig

    run.set_threads()
    config, training = ParserConfig.from_dict(tables["model"]), TrainingConfig.from_dict(tables["training"])
    corpus: ParserCorpus | PhraseCorpus
    parser: Parser
    if config.kind == "dependency":
        corpus = ParserCorpus(trees, config)
        parser = BiaffineParser.create(config, corpus.tokenizer, training.seed)
    else:
        corpus = PhraseCorpus(trees, config)
        parser = SpanParser.create(config, corpus.tokenizer, training.seed)
        labels = len(corpus.tokenizer.labels)
        rare = f" ({corpus.rare_labels:,} rarer ones are not learned)" if corpus.rare_labels else ""
        typer.echo(f"dtg: {labels:,} labels, unary chains counted as one{rare}.", err=True)
    return run.train(out, parser, corpus, training, config.to_dict(), ParserReporter())
