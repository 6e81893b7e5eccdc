"""`dtg info`: what is in treebanks, what a trained model or parser is, and what is bundled."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from dtg import pretrained
from dtg.cli.groups import takes_groups
from dtg.cli.options import JsonOption
from dtg.cli.reading import ReadingOptions
from dtg.errors import InputError
from dtg.io.json_files import CONFIG, FORMAT_VERSION, MANIFEST, WEIGHTS
from dtg.io.messages import pluralize
from dtg.trees import TreebankReport
from dtg.trees.kinds import DEPENDENCY


@dataclass(slots=True)
class Extent:
    """How far the trees go."""

    longest: int = 0  # words
    deepest: int = 0  # arcs from <ROOT>, or phrases around a word

    def add(self, tree: Any) -> None:
        """Look at one tree."""
        self.longest = max(self.longest, len(tree))
        self.deepest = max(self.deepest, tree.depth)

    def lines(self, mean: float) -> list[str]:
        """For people; `mean` is of the words of a sentence."""
        return [f"{mean:.1f} words on average, {self.longest} in the longest; trees up to {self.deepest} arcs deep"]


@dataclass(slots=True)
class PhraseExtent(Extent):
    """The same of phrases, and which there are."""

    longest_chain: int = 0  # phrases over the same words
    phrases: int = 0
    labels: dict[str, int] = field(default_factory=dict)  # how often each occurs

    def add(self, tree: Any) -> None:
        Extent.add(self, tree)  # slots make a new class, which super() does not know
        self.longest_chain = max(self.longest_chain, tree.unary_chains)
        self.phrases += len(tree.nodes)
        for node in tree.nodes:
            self.labels[node.label] = self.labels.get(node.label, 0) + 1

    def lines(self, mean: float) -> list[str]:
        labels = ", ".join(f"{label} {count:,}" for label, count in Counter(self.labels).most_common())
        return [
            f"{mean:.1f} words on average, {self.longest} in the longest; trees up to {self.deepest} phrases deep, "
            f"up to {self.longest_chain} over the same words",
            f"{pluralize(self.phrases, 'phrase')}, {pluralize(len(self.labels), 'label')}: {labels}",
        ]


@takes_groups
def info(
    treebanks: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Treebank files (.conllu, .conll, .ptb, .mrg, .brackets, .gz); a corpus; or a model or parser, its folder "
            "or the name of a bundled one.",
            metavar="FILE...|DIR|NAME",
        ),
    ] = None,
    *,
    policies: ReadingOptions,
    as_json: JsonOption = False,
) -> None:
    """What comes with dtg (without arguments), what a model, parser or corpus is, or what is in treebanks.

    dtg info

    dtg info parser-small

    dtg info runs/mini/best

    dtg info en_ewt-ud-train.conllu

    dtg info wsj.mrg

    Treebanks are read whole; what had to be changed and what was left out is said.
    """
    if not treebanks:
        list_bundled(as_json=as_json)
        return
    if len(treebanks) == 1 and is_trained(treebanks[0]):
        describe(treebanks[0], as_json=as_json)
        return
    if len(treebanks) == 1 and (treebanks[0] / MANIFEST).is_file():
        describe_corpus(treebanks[0], as_json=as_json)
        return
    from dtg.cli.progress import show_changes, with_progress

    reading = policies.reading(treebanks)
    report, extent = TreebankReport(), Extent() if reading.kind is DEPENDENCY else PhraseExtent()
    for tree in with_progress(reading.read(treebanks, report), report, "reading"):
        extent.add(tree)
    if as_json:
        files = [str(path) for path in treebanks]
        content: dict[str, Any] = {"format_version": FORMAT_VERSION, "files": files, **report.as_dict()}
        typer.echo(json.dumps({**content, **asdict(extent)}, ensure_ascii=False))
        return
    mean = report.words / report.sentences if report.sentences else 0.0
    for line in (report.lines()[0], *extent.lines(mean)):
        typer.echo(line)
    show_changes(report)


def describe_corpus(folder: Path, *, as_json: bool) -> None:
    """What is in a corpus that dtg prepare has made."""
    from dtg.cli.commands.prepare import show
    from dtg.text import Corpus

    corpus = Corpus.open(folder)
    if as_json:
        typer.echo(json.dumps({"kind": "corpus", "folder": str(folder), **corpus.manifest}, ensure_ascii=False))
        return
    typer.echo(f"a corpus of {'dependencies' if corpus.kind is DEPENDENCY else 'phrases'} in {folder}")
    show(corpus)


def is_trained(path: Path) -> bool:
    """Whether a name or a path stands for a trained model or parser."""
    return (saved_folder(path) / CONFIG).is_file()


def list_bundled(*, as_json: bool) -> None:
    """What can be used by name."""
    if as_json:
        typer.echo(
            json.dumps({"format_version": FORMAT_VERSION, "bundled": pretrained.names(), "box": pretrained.names()})
        )
        return
    for name in pretrained.names():
        typer.echo(f"{name:16}{title(name)}")
    typer.echo(
        "dtg info NAME shows what it was trained on, its licence and its scores; dtg info FILE what is in a treebank."
    )


def title(name: str) -> str:
    """A card's first line of text."""
    return next(line for line in pretrained.card(name).splitlines() if line and not line.startswith("#"))


def kind_of(content: Any, folder: Path) -> str:
    """Whether a config.json is a model's or a parser's."""
    kind = next((kind for kind in ("model", "parser") if isinstance(content, dict) and kind in content), None)
    if kind is None:
        raise InputError(f"{folder / CONFIG} is not that of a model or a parser.")
    return kind


def describe(path: Path, *, as_json: bool) -> None:
    """One of them: kind, size, settings, and how it was trained: its run's log, or a bundled one's card."""
    from dtg.io.saved import count_parameters, read_saved_config
    from dtg.training.log import summarize_log

    folder = saved_folder(path)
    content = read_saved_config(folder, "")
    kind = kind_of(content, folder)
    has_weights = (folder / WEIGHTS).is_file()
    size = (folder / WEIGHTS).stat().st_size if has_weights else 0
    parameters = count_parameters(folder) if has_weights else None
    log = folder.resolve().parent / "log.jsonl"
    run = summarize_log(log) if folder.resolve().name == "best" and log.is_file() else None
    if as_json:
        shown: dict[str, Any] = {"kind": kind, "folder": str(folder), "bytes": size, "parameters": parameters}
        shown |= {"settings": content[kind], "run": run}
        typer.echo(json.dumps({"format_version": FORMAT_VERSION, **shown}, ensure_ascii=False))
        return
    if pretrained.is_known(folder):
        typer.echo(pretrained.card(path.name).rstrip() + "\n")
    counted = "" if parameters is None else f"{parameters:,} parameters, "
    typer.echo(f"a {kind} in {folder}, {counted}{size / 1e6:.1f} MB of weights")
    for line in [] if run is None else run_lines(run, "prediction" if kind == "model" else "word"):
        typer.echo(line)
    for name, value in content[kind].items():
        typer.echo(f"  {name} = {json.dumps(value, ensure_ascii=False)}")


def saved_folder(path: Path) -> Path:
    """Where a model or parser is: a folder, a bundled name, or a run, whose best one is meant."""
    folder = pretrained.find(path)
    best = folder / "best"
    return best if not (folder / CONFIG).is_file() and (best / CONFIG).is_file() else folder


def run_lines(run: dict[str, Any], per: str) -> list[str]:
    """What the log beside a model says, for people; losses are means per `per`."""
    lines = [
        f"trained for {run['steps']:,} of {run['steps_planned']:,} steps, "
        f"on {run['words']:,} of {run['words_planned']:,} words",
        f"data: the corpus with hash {run['corpus']}",
    ]
    if (best := run["best_on_dev"]) is not None:
        perplexity = f"; perplexity {best['word_perplexity']:.2f} per word" if per == "prediction" else ""
        lines.append(f"best on dev at step {best['step']:,}: {best['loss']:.4f} nats per {per}{perplexity}")
    if (test := run["test"]) is not None:
        lines.append(f"test: {test['loss']:.4f} nats per {per}")
    return lines
