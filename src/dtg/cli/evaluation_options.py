"""What commands that evaluate language models share: options, the model, and work that an interrupted run goes on with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg import __version__
from dtg.cli.interrupts import interruptible
from dtg.cli.loading import load_model, model_folder
from dtg.errors import InputError
from dtg.evaluation.processes import Processes, joined
from dtg.evaluation.work import Group, Store, do
from dtg.io.hashing import json_hash

if TYPE_CHECKING:
    from dtg.language_model import LanguageModel

NameOption = Annotated[
    str | None, typer.Option(help="What the model is called in tables and pictures; its family by default.")
]
ResultsOption = Annotated[
    Path | None,
    typer.Option(
        help="Keep everything in this folder; an interrupted run goes on there. Without it a summary is printed.",
        metavar="FOLDER",
    ),
]
AgainstOption = Annotated[
    Path | None, typer.Option(help="Compare with the results in another folder, item by item.", metavar="FOLDER")
]


@dataclass(frozen=True, slots=True)
class EvaluatedModel:
    """A language model as the command line names it."""

    model: LanguageModel
    folder: Path
    device: str
    name: str

    @classmethod
    def of(cls, folder: Path | None, device: str, name: str | None) -> EvaluatedModel:
        """Load the model that --model names."""
        folder = model_folder(folder)
        model = load_model(folder, device)
        return cls(model, folder, device, name or model.config.family)

    @property
    def is_exact(self) -> bool:
        """Whether log p(x) needs no search: the family has no trees to sum over."""
        return not self.model.has_trees

    def settings(self, command: str, options: Mapping[str, Any], data: str) -> dict[str, Any]:
        """What decides the numbers; `data` is a hash of what is evaluated on."""
        from dtg.model.saving import model_hash

        return {
            "command": command,
            "dtg": __version__,
            "family": self.model.config.family,
            "model_sha256": model_hash(self.folder),
            "data_sha256": data,
            **options,
            "device": self.device,
        }


def computed(
    groups: Sequence[Group],
    compute: Callable[[Group], Iterable[Any]],
    settings: Mapping[str, Any],
    out: Path | None,
    *,
    sentences_per_row: int = 1,
) -> list[Any] | None:
    """All rows, in order, after what is left of them is computed; None in any process but the main one."""
    from dtg.cli.evaluation_progress import EvaluationProgress

    with joined() as processes, results_folder(out, processes) as folder:
        progress = EvaluationProgress(processes, sentences_per_row=sentences_per_row)
        with progress, interruptible():
            try:
                rows = do(groups, compute, Store(folder, settings), processes, progress)
            except KeyboardInterrupt:
                if out is not None and processes.is_main:
                    typer.echo(f"dtg: {out} is not finished. The same command goes on.", err=True)
                raise
        return rows if processes.is_main else None


@contextmanager
def results_folder(out: Path | None, processes: Processes) -> Iterator[Path]:
    """The folder that --out names, or one that is gone afterwards."""
    if out is not None:
        yield out
        return
    if processes.count > 1:
        raise InputError("several processes share the work through a folder; name it with --out FOLDER.")
    with tempfile.TemporaryDirectory(prefix="dtg-") as folder:
        yield Path(folder)


def content_hash(content: Any) -> str:
    """The sha256 of something that JSON can hold."""
    return json_hash(content, ensure_ascii=False)


def details(options: Mapping[str, Any], proposal: str | None) -> list[str]:
    """What decides the numbers, as far as people want to know it: a line each."""
    told = []
    if "limit" in options:
        told.append(f"sentences: the first {options['limit']:,} of the file.")
    if "sample" in options:
        told.append(f"sentences: a sample of {options['sample']:,}, seed {options['seed']}.")
    if "trees" in options:
        told.append(f"trees: up to {options['trees']:,} a sentence from {proposal}, seed {options['seed']}.")
    if "beam" in options:
        told.append(f"search: beam {options['beam']:,}, word beam {options['word_beam']:,}.")
    if not options["constrained"]:
        told.append("illegal actions were not masked before normalising.")
    return told


def names_in(option: str | None) -> list[str] | None:
    """The names of an option that takes several, with commas between them; None for none given."""
    return None if option is None else [name.strip() for name in option.split(",") if name.strip()]


def other_name(name: str, other: str, folder: Path) -> str:
    """What to call another model's results beside those of `name`: its own name, unless that is the same."""
    return other if other != name else f"{other} ({folder.name})"


def tell_files(folder: Path, drawn: bool) -> None:
    """Say where everything is, and what is missing there."""
    typer.echo(f"\nAll tables are in {folder / 'results.md'}.")
    if not drawn:
        typer.echo("dtg: pictures need matplotlib: pip install 'dtg[draw]', then the same command again.", err=True)
