"""What a paper should say of the surprisals that it uses, and whom it should cite: a checklist and BibTeX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dtg
from dtg import pretrained
from dtg.errors import InputError
from dtg.evaluation.tasks.selection import search_title
from dtg.language_model import LanguageModel, name_of
from dtg.model.saving import model_hash
from dtg.search.options import Accuracy, BeamOptions
from dtg.tables.formats import number_in, read_rows
from dtg.tables.sidecar import read_sidecar, sidecar_path

TO_SAY = "(say it)"


DTG_PAPER, TRANSFORMER_XL, PLM_PAPER = "zhao-etal-2024-dtg", "dai-etal-2019-transformer-xl", "qian-etal-2021-plm"
FAMILIES = {
    "txl-tokens": TRANSFORMER_XL,
    "tg": "sartran-etal-2022-tg",
    "plm": PLM_PAPER,
    "plm-mask": PLM_PAPER,
    "pushdown": "murty-etal-2023-pushdown",
}
SEARCH = "stern-etal-2017-inference"
BOUNDARIES = ("pimentel-meister-2024-word", "oh-schuler-2024-whitespaces")
TRAINING_DATA = ("gessler-etal-2020-amalgum", "silveira-etal-2014-ewt", "zeldes-2017-gum")
SOFTWARE = """@software{{dtg,
  author = {{{{The dtg developers}}}},
  title = {{{{dtg: language models that generate a sentence together with its syntax tree}}}},
  version = {{{version}}},
  year = {{2026}},
}}"""


@dataclass(frozen=True, slots=True)
class Reference:
    """A BibTeX entry."""

    entry: str

    @property
    def key(self) -> str:
        return self.entry[self.entry.index("{") + 1 : self.entry.index(",")]

    def bibtex(self) -> str:
        return self.entry


def bibliography() -> dict[str, Reference]:
    """The entries of references.bib, by key."""
    text = (Path(__file__).parent / "references.bib").read_text(encoding="utf-8")
    return {one.key: one for one in map(Reference, text.strip().split("\n\n"))}


@dataclass(frozen=True, slots=True)
class Citation:
    """What to say, point by point, and what to cite."""

    checklist: Mapping[str, str]
    references: tuple[Reference, ...]

    def text(self) -> str:
        width = max(map(len, self.checklist)) + 2
        lines = [f"{name:{width}}{value}" for name, value in self.checklist.items()]
        return "\n".join([*lines, "", *(one.bibtex() for one in self.references)]) + "\n"


def cite_model(
    model: str | Path,
    beam: int | None = None,
    word_beam: int | None = None,
    boundary: str = "next",
    accuracy: Accuracy | None = None,
) -> Citation:
    """For surprisals that are computed with these settings."""
    options = BeamOptions.of(beam=beam, word_beam=word_beam, accuracy=accuracy)
    settings = {**options.settings(), "boundary": boundary}
    return citation(Path(model), settings, "bits, unless another base was asked for", None)


def cite_table(table: Path) -> Citation:
    """For a table that `dtg surprisal` wrote: its settings, and what the search kept of the probability."""
    if not sidecar_path(table).is_file():
        raise InputError(f"{sidecar_path(table)} is missing; it says how {table} was made. Name the model instead.")
    about = read_sidecar(sidecar_path(table))
    folder = about.given.get("model")
    if isinstance(folder, list):
        raise InputError(f"{table} is of several models: {', '.join(folder)}. Name one of them instead.")
    kept = [number_in(row, "kept", float, f"{table}, {where}") for where, row in read_rows(table) if "kept" in row]
    known = [float(value) for value in kept if value is not None]
    said = f"mean {sum(known) / len(known):.4f}, lowest {min(known):.4f}, of {len(known):,} words" if known else None
    return citation(Path(str(folder)), about.settings, str(about.settings.get("unit", "")), said)


def citation(path: Path, settings: Mapping[str, Any], unit: str, kept: str | None) -> Citation:
    folder = pretrained.find(path)
    model = LanguageModel.load(folder)
    name, is_bundled = name_of(folder), pretrained.is_known(folder)
    parameters = sum(one.numel() for one in model.decoder_model.parameters())
    boundary = settings.get("boundary", "next")
    own = (
        "the word's own surprisal (boundary own)" if boundary == "own" else "the next word's surprisal (boundary next)"
    )
    search = search_title(settings) if model.has_trees else "none: exact, one pass"
    checklist = {
        "model": f"{name}, family {model.config.family}, {parameters / 1e6:.1f} million parameters, "
        f"sha256 {model_hash(folder)[:12]}",
        "trained on": bundled_data(name) if is_bundled else f"{TO_SAY} treebank, words, licence",
        "software": f"dtg {dtg.__version__}",
        "search": search,
        "kept": "all" if not model.has_trees else kept or f"{TO_SAY} mean and lowest of the column kept",
        "end of a word": f"counted in {own}",
        "units": unit,
        "words": f"{settings['per'] if 'per' in settings else 'per word, or per whitespace word: ' + TO_SAY}; sums over pieces",
        "context": "the sentence alone; nothing before it",
        "controls": f"{TO_SAY} length, log frequency (which list), position, punctuation, sentence start and end, spill-over",
        "folds and tests": f"{TO_SAY} what is held out; over what intervals and tests are",
        "exploratory": f"{TO_SAY} which columns were planned, and which were tried",
    }
    known = bibliography()
    keys = [FAMILIES.get(model.config.family, DTG_PAPER), *([SEARCH] if model.has_trees else [])]
    keys += [*(BOUNDARIES if boundary == "own" else ()), *(TRAINING_DATA if is_bundled else ())]
    references = (Reference(SOFTWARE.format(version=dtg.__version__)), *(known[key] for key in keys))
    return Citation(checklist, references)


def bundled_data(name: str) -> str:
    """The first line of the card's part about data."""
    lines = pretrained.card(name).splitlines()
    after = lines[lines.index("## Data") + 1 :] if "## Data" in lines else lines
    return next(line for line in after if line.strip()).rstrip(":")
