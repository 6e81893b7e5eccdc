"""The options of commands that write tables."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dtg import pretrained

if TYPE_CHECKING:
    from dtg.tables.columns import Base
    from dtg.tables.formats import Format


class BaseChoice(StrEnum):
    bits = "2"
    nats = "e"

    @property
    def base(self) -> Base:
        return self.value

    @property
    def unit(self) -> Literal["bits", "nats"]:
        return "bits" if self is BaseChoice.bits else "nats"

    @property
    def log(self) -> str:
        return "log₂" if self is BaseChoice.bits else "ln"


class FormatChoice(StrEnum):
    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"

    @property
    def chosen(self) -> Format:
        return self.value


ModelOption = Annotated[
    Path | None,
    typer.Option(
        help=f"A trained model: its folder, such as RUN/best, or a name. [default: {pretrained.MODEL}]",
        metavar="DIR|NAME",
    ),
]
BeamOption = Annotated[
    int, typer.Option(min=1, help="Partial trees looked at before each word; more is slower and loses less.")
]
WordBeamOption = Annotated[
    int | None, typer.Option(min=1, help="Partial trees kept after each word; a third of --beam by default.")
]
OutOption = Annotated[Path | None, typer.Option(help="Write a table: .csv, .tsv, .jsonl or .parquet.", metavar="FILE")]
FormatOption = Annotated[
    FormatChoice | None,
    typer.Option("--format", help="The table's format, if --out's name does not say it; without --out, it is printed."),
]
BaseOption = Annotated[BaseChoice, typer.Option(help="Logarithms: 2 gives bits, e gives nats.")]
TokenizedOption = Annotated[
    bool, typer.Option("--tokenized", help="The input is split into words: take what is between spaces as it is.")
]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on with the --out of an interrupted run.")]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace --out if it exists.")]
DeviceOption = Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, mps.", metavar="DEVICE")]
