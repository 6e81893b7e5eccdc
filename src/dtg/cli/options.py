"""Options that several commands share: the same name, meaning and default in each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from dtg import pretrained
from dtg.io.pictures import SUFFIXES
from dtg.tables.columns import Base
from dtg.tables.formats import Format
from dtg.trees.conllu import Roots
from dtg.trees.phrases.brackets import Functions, Tags, Traces, Unary
from dtg.trees.phrases.projection import PhraseLabels
from dtg.trees.reading import TreeFormat
from dtg.trees.treebank import NonProjective

Boundary = Literal["next", "own"]  # as in dtg.search.options, which takes long to import
Precision = Literal["auto", "no", "bf16", "fp16"]
TrainingDevice = Literal["auto", "cpu", "cuda", "mps"]

# Which model, which parser, where to compute.
ModelOption = Annotated[
    Path | None,
    typer.Option(
        help=f"A trained model: its folder, such as RUN/best, or a bundled one. [default: {pretrained.MODEL}]",
        metavar="DIR|NAME",
    ),
]
ModelsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--model",
        help="A trained model: its folder, such as RUN/best, or a bundled one; repeat it for several. "
        f"[default: {pretrained.MODEL}]",
        metavar="DIR|NAME",
    ),
]
ParserOption = Annotated[
    Path | None,
    typer.Option(
        help=f"A trained parser: its folder, such as RUN/best, or a bundled one. [default: {pretrained.PARSER}]",
        metavar="DIR|NAME",
    ),
]
ProposalOption = Annotated[
    str | None,
    typer.Option(
        "--parser",
        help="Where trees come from: a trained parser (its folder, RUN/best, or a name), a file of trees (.conllu, .ptb, "
        f".gz), or spacy:PIPELINE (spacy:en_core_web_sm). [default: {pretrained.PARSER}]",
        metavar="DIR|NAME|FILE|spacy:NAME",
    ),
]
DeviceOption = Annotated[
    str, typer.Option(help="Where to compute: auto (a GPU if there is one), cpu, cuda, cuda:1, mps.", metavar="DEVICE")
]
TrainingDeviceOption = Annotated[
    TrainingDevice, typer.Option(help="Where to compute: auto (a GPU if there is one), cpu, cuda, mps.")
]

# What is searched for and drawn.
Accuracy = Literal["fast", "default", "high"]  # as in dtg.search.options, which takes long to import
AccuracyOption = Annotated[
    Accuracy | None,
    typer.Option(
        help="How much the search keeps; the beam adapts to that. high is slower and loses less. [default: default]"
    ),
]
BeamOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="A beam of fixed width instead: partial trees followed before each word, such as the paper's 300."
    ),
]
WordBeamOption = Annotated[
    int | None, typer.Option(min=1, help="Partial trees kept after each word; a third of --beam by default.")
]
BoundaryOption = Annotated[
    Boundary,
    typer.Option(help="That a word is over counts in the surprisal of the next word, or in its own."),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        help="More columns, with commas between them: reductions, dependency_length, integration_cost, best_parse, runner_up, "
        "attention_entropy; or all.",
        metavar="A,B",
    ),
]
TreesOption = Annotated[int, typer.Option(min=1, help="Number of trees drawn from the proposal for each sentence.")]
WeightOption = Annotated[float, typer.Option(help="Weight of the proposal's own log-probability of a tree.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Random seed: the same seed draws the same.")]
MaxWordsOption = Annotated[
    int,
    typer.Option(
        min=1,
        help="Sentences with more words are left out, or split (--long); they are counted and listed.",
        metavar="N",
    ),
]
LongOption = Annotated[
    Literal["skip", "split"],
    typer.Option(help="Sentences of more than --max-words: leave them out, or cut them into parts."),
]
LimitOption = Annotated[int | None, typer.Option(min=1, help="The first N sentences only.", metavar="N")]

# What is read.
TokenizedOption = Annotated[
    bool, typer.Option("--tokenized", help="Words are separated by spaces; take them as they are.")
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        help="Language code (en, fr, de): whose rules split raw text into words as the treebank's are; none if words will be "
        "given. [default: by the names of UD files, or en if that fits]",
        metavar="CODE",
    ),
]
ParagraphsOption = Annotated[
    bool, typer.Option("--paragraphs", help="Lines are running text: split them into sentences.")
]
NonProjectiveOption = Annotated[
    NonProjective,
    typer.Option(help="Trees with crossing arcs: lift arcs until none cross, skip the tree, or stop with an error."),
]
RootsOption = Annotated[
    Roots,
    typer.Option(help="Sentences with several roots: stop, attach later roots to the first, or skip the sentence."),
]
TreeFormatOption = Annotated[
    TreeFormat,
    typer.Option(
        "--treebank-format",
        help="What treebanks are written in: conllu, brackets, or auto, by their names (.ptb, .mrg, .brackets).",
    ),
]
ProjectOption = Annotated[
    PhraseLabels | None,
    typer.Option(
        help="Turn dependencies into phrases, labelled by the number of children before the head (head), its tag (upos), its "
        "relation, or not at all (none)."
    ),
]
UnaryOption = Annotated[
    Unary | None,
    typer.Option(help="In brackets, phrases over the same words: keep all, or collapse into the outermost."),
]
FunctionsOption = Annotated[
    Functions | None, typer.Option(help="In brackets, what follows a dash in a label: strip (NP-SBJ is NP), or keep.")
]
TracesOption = Annotated[
    Traces | None, typer.Option(help="In brackets, words tagged -NONE-: remove, or keep as words.")
]
TagsOption = Annotated[
    Tags | None, typer.Option(help="In brackets, whether words have part-of-speech tags: present, absent or auto.")
]
SkipInvalidOption = Annotated[
    bool, typer.Option("--skip-invalid", help="Leave out sentences that cannot be read; they are counted and listed.")
]

# What is written.
OutOption = Annotated[Path | None, typer.Option(help="Write a table: .csv, .tsv, .jsonl or .parquet.", metavar="FILE")]
TreesOutOption = Annotated[Path | None, typer.Option(help="Write to a file; printed otherwise.", metavar="FILE.conllu")]
FormatOption = Annotated[
    Format | None,
    typer.Option("--format", help="The table's format, if --out's name does not say it; without --out, it is printed."),
]
BaseOption = Annotated[Base, typer.Option(help="Base of logarithms: 2 gives bits, e gives nats.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Resume the --out of an interrupted run.")]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace --out if it exists.")]

DrawOption = Annotated[
    list[Path] | None,
    typer.Option(
        help="Draw trees on the terminal instead; with a FILE (.svg, .png, .pdf), one there.", metavar="[FILE]"
    ),
]

# How training runs.
ResumeRunOption = Annotated[bool, typer.Option("--resume", help="Resume the run in --out from its last checkpoint.")]
MaxMinutesOption = Annotated[
    float | None, typer.Option(min=0, help="Suspend the run after this time, to be resumed; the schedule stays.")
]
PrecisionOption = Annotated[
    Precision,
    typer.Option(help="Mixed precision. auto: bf16 where it is faster; a resumed run keeps what it was begun with."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Change a setting of the configuration: model.KEY=VALUE or training.KEY=VALUE; repeatable.",
        metavar="KEY=VALUE",
    ),
]
LogWithOption = Annotated[
    list[str] | None,
    typer.Option(
        "--log-with",
        help="Log to TensorBoard (RUN/tensorboard) or Weights & Biases, too; repeatable.",
        metavar="[tensorboard|wandb]",
    ),
]
ThreadsOption = Annotated[
    int | None, typer.Option(min=1, help="CPU threads; a run is repeated to the bit on the same number.")
]


class DrawCommand(TyperCommand):
    """A command with `DrawOption`: `--draw` may stand alone (on the terminal) or before the name of a picture."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = list[str]()
        for place, arg in enumerate(args):
            given.append(arg)
            if arg == "--draw" and not (args[place + 1 : place + 2] or [""])[0].lower().endswith(SUFFIXES):
                given.append("-")
        return super().parse_args(ctx, given)


def note_renamed(old: str, new: str) -> None:
    """Say that an option has another name now."""
    typer.echo(f"dtg: {old} is called {new} now; it still works.", err=True)
