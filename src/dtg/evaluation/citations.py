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


@dataclass(frozen=True, slots=True)
class Reference:
    """A BibTeX entry."""

    key: str
    kind: str
    fields: Mapping[str, str]

    def bibtex(self) -> str:
        lines = [f"  {name} = {{{value}}}," for name, value in self.fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


def paper(key: str, author: str, title: str, booktitle: str, year: int, kind: str = "inproceedings") -> Reference:
    place = "journal" if kind == "article" else "booktitle"
    return Reference(key, kind, {"author": author, "title": f"{{{title}}}", place: booktitle, "year": str(year)})


ACL = "Proceedings of the {}th Annual Meeting of the Association for Computational Linguistics"
EMNLP = "Proceedings of the {} Conference on Empirical Methods in Natural Language Processing"
DTG_PAPER = paper(
    "zhao-etal-2024-dtg",
    "Zhao, Yida and Lou, Chao and Tu, Kewei",
    "Dependency Transformer Grammars: Integrating Dependency Structures into Transformer Language Models",
    "Proceedings of the 62nd Annual Meeting of the Association for Computational Linguistics",
    2024,
)
TRANSFORMER_XL = paper(
    "dai-etal-2019-transformer-xl",
    "Dai, Zihang and Yang, Zhilin and Yang, Yiming and Carbonell, Jaime and Le, Quoc and Salakhutdinov, Ruslan",
    "Transformer-XL: Attentive Language Models beyond a Fixed-Length Context",
    ACL.format(57),
    2019,
)
TG_PAPER = paper(
    "sartran-etal-2022-tg",
    "Sartran, Laurent and Barrett, Samuel and Kuncoro, Adhiguna and Stanojevi\\'c, Milo\\v{s} and Blunsom, Phil "
    "and Dyer, Chris",
    "Transformer Grammars: Augmenting Transformer Language Models with Syntactic Inductive Biases at Scale",
    "Transactions of the Association for Computational Linguistics",
    2022,
    "article",
)
PLM_PAPER = paper(
    "qian-etal-2021-plm",
    "Qian, Peng and Naseem, Tahira and Levy, Roger and Fernandez Astudillo, Ram\\'on",
    "Structural Guidance for Transformer Language Models",
    ACL.format(59),
    2021,
)
PUSHDOWN_PAPER = paper(
    "murty-etal-2023-pushdown",
    "Murty, Shikhar and Sharma, Pratyusha and Andreas, Jacob and Manning, Christopher",
    "Pushdown Layers: Encoding Recursive Structure in Transformer Language Models",
    EMNLP.format(2023),
    2023,
)
FAMILIES: Mapping[str, tuple[Reference, ...]] = {
    "txl-tokens": (TRANSFORMER_XL,),
    "tg": (TG_PAPER,),
    "plm": (PLM_PAPER,),
    "plm-mask": (PLM_PAPER,),
    "pushdown": (PUSHDOWN_PAPER,),
}
SEARCH = paper(
    "stern-etal-2017-inference",
    "Stern, Mitchell and Fried, Daniel and Klein, Dan",
    "Effective Inference for Generative Neural Parsing",
    EMNLP.format(2017),
    2017,
)
BOUNDARIES = (
    paper(
        "pimentel-meister-2024-word",
        "Pimentel, Tiago and Meister, Clara",
        "How to Compute the Probability of a Word",
        EMNLP.format(2024),
        2024,
    ),
    paper(
        "oh-schuler-2024-whitespaces",
        "Oh, Byung-Doh and Schuler, William",
        "Leading Whitespaces of Language Models' Subword Vocabulary Pose a Confound for Calculating Word Probabilities",
        EMNLP.format(2024),
        2024,
    ),
)
TRAINING_DATA = (
    paper(
        "gessler-etal-2020-amalgum",
        "Gessler, Luke and Peng, Siyao and Liu, Yang and Zhu, Yilun and Behzad, Shabnam and Zeldes, Amir",
        "AMALGUM -- A Free, Balanced, Multilayer English Web Corpus",
        "Proceedings of the Twelfth Language Resources and Evaluation Conference",
        2020,
    ),
    paper(
        "silveira-etal-2014-ewt",
        "Silveira, Natalia and Dozat, Timothy and de Marneffe, Marie-Catherine and Bowman, Samuel and Connor, Miriam "
        "and Bauer, John and Manning, Christopher",
        "A Gold Standard Dependency Corpus for English",
        "Proceedings of the Ninth International Conference on Language Resources and Evaluation",
        2014,
    ),
    paper(
        "zeldes-2017-gum",
        "Zeldes, Amir",
        "The GUM Corpus: Creating Multilayer Resources in the Classroom",
        "Language Resources and Evaluation",
        2017,
        "article",
    ),
)


def software() -> Reference:
    """dtg itself, in this version."""
    title = "{dtg: language models that generate a sentence together with its syntax tree}"
    return Reference(
        "dtg",
        "software",
        {"author": "{The dtg developers}", "title": title, "version": dtg.__version__, "year": "2026"},
    )


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
    name, is_bundled = name_of(folder), folder.parent == pretrained.FOLDER
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
    references = [software(), *FAMILIES.get(model.config.family, (DTG_PAPER,)), *([SEARCH] if model.has_trees else [])]
    references += [*(BOUNDARIES if boundary == "own" else ()), *(TRAINING_DATA if is_bundled else ())]
    return Citation(checklist, tuple(references))


def bundled_data(name: str) -> str:
    """The first line of the card's part about data."""
    lines = pretrained.card(name).splitlines()
    after = lines[lines.index("## Data") + 1 :] if "## Data" in lines else lines
    return next(line for line in after if line.strip()).rstrip(":")
