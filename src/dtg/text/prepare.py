"""Treebanks and text to a prepared corpus: files and options in, a folder that `Corpus.open` reads out (docs/text.md).

The training files are read twice, once to count words for the tokenizer and once to encode them, so that memory does not
grow with the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dtg.errors import CorpusError, InputError
from dtg.text.corpus import Corpus
from dtg.text.encoding import encode_split
from dtg.text.folder import building
from dtg.text.inputs import SPLITS, ParsedText, PlainText, describe_inputs
from dtg.text.manifest import FORMAT_VERSION, TOKENIZER, describe_file, read_manifest, write_manifest
from dtg.text.split import ARRAYS
from dtg.text.tokenizer import Tokenizer
from dtg.trees import DependencyTree, TreebankReport, read_treebank
from dtg.trees.conllu import Roots
from dtg.trees.treebank import NonProjective

DEFAULT_VOCABULARY = 8_192

Progress = Callable[[Iterable[DependencyTree], TreebankReport, str], Iterator[DependencyTree]]
"""Trees, the report that grows with them and a word for what is done; gives the trees on, and may show something."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The corpus, and whether it was there already."""

    corpus: Corpus
    was_there: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """How treebanks are read: the policies of `read_treebank`."""

    nonprojective: NonProjective = "lift"
    roots: Roots = "error"
    skip_invalid: bool = False


def prepare_corpus(
    files: Mapping[str, Sequence[str | Path]],
    out: str | Path,
    *,
    vocabulary: int = DEFAULT_VOCABULARY,
    tokenizer: str | Path | None = None,
    reading: Reading | None = None,
    text: PlainText | None = None,
    progress: Progress | None = None,
) -> Prepared:
    """Make a corpus of the files of each split, unless `out` has been made of the same files and options already.

    `files` are treebanks; `text` comes on top of them. A tokenizer of `vocabulary` pieces is trained on the words of "train",
    or the `tokenizer` given is used.
    """
    reading, out = reading or Reading(), Path(out)
    inputs = describe_inputs(files, text)
    given = None if tokenizer is None else Tokenizer.load(tokenizer)
    options = {
        "vocabulary": vocabulary if given is None else None,
        "tokenizer": given.hash if given else None,
        **asdict(reading),
        **(text.settings if text else {}),
    }
    if is_taken(out):
        return Prepared(same_corpus(out, inputs, options), was_there=True)
    parsed = text.parse() if text else {}
    try:
        with building(out) as folder:
            make = Preparation(folder, files, parsed, reading, progress or (lambda trees, _report, _what: iter(trees)))
            make.write(given or make.trained(vocabulary), inputs, options)
    except OSError as error:
        raise CorpusError(f"cannot prepare {out}: {error}. Nothing was written.") from error
    return Prepared(Corpus.open(out), was_there=False)


class Preparation:
    """One run, with what its steps share."""

    def __init__(
        self,
        folder: Path,
        files: Mapping[str, Sequence[str | Path]],
        parsed: Mapping[str, ParsedText],
        reading: Reading,
        progress: Progress,
    ) -> None:
        self.folder, self.files, self.parsed, self.reading, self.progress = folder, files, parsed, reading, progress

    def trees(self, split: str, report: TreebankReport, what: str) -> Iterator[DependencyTree]:
        """The trees of a split: first of its treebanks, then of its text. What of the text was left out is in the report."""
        files = list(self.files.get(split, ()))
        if split in self.parsed:
            files.append(self.parsed[split].treebank)
            report.skipped.extend(self.parsed[split].skipped)
        trees = read_treebank(files, **asdict(self.reading), report=report)
        return self.progress(trees, report, what)

    def trained(self, vocabulary: int) -> Tokenizer:
        """A tokenizer for the words of the training split."""
        trees = self.trees("train", TreebankReport(), "counting the words of train")
        return Tokenizer.train((word for tree in trees for word in tree.words), vocabulary)

    def write(self, tokenizer: Tokenizer, inputs: dict[str, Any], options: dict[str, Any]) -> None:
        """The tokenizer, the splits and the manifest."""
        tokenizer.save(self.folder / TOKENIZER)
        relations: dict[str, int] = {}
        splits = {split: self.write_split(split, tokenizer, relations, inputs[split]) for split in inputs}
        manifest = {
            "format_version": FORMAT_VERSION,
            "made_with": {package: version(package) for package in ("dtg", "sentencepiece")},
            "options": options,
            "tokenizer": {
                **describe_file(self.folder, self.folder / TOKENIZER),
                "size": tokenizer.size,
                "training": asdict(tokenizer.training) if tokenizer.training else None,
            },
            "splits": splits,
            "relations": list(relations),
        }
        write_manifest(self.folder, manifest)

    def write_split(
        self, split: str, tokenizer: Tokenizer, relations: dict[str, int], inputs: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Encode one split, and describe it."""
        folder, report = self.folder / split, TreebankReport()
        folder.mkdir()
        encoded = encode_split(self.trees(split, report, f"encoding {split}"), folder, tokenizer, relations)
        if not report.sentences:
            reason = f" ({report.skipped[0].reason})" if report.skipped else ""
            raise InputError(
                f"no sentence is left for {split}; {len(report.skipped):,} were left out{reason}. Give other files."
            )
        counts = report.as_dict()
        skipped = counts.pop("skipped")
        return {
            "counts": {**counts, "skipped": len(skipped), **asdict(encoded)},
            "skipped": skipped,
            "inputs": inputs,
            "arrays": {name: describe_file(self.folder, folder / f"{name}.npy") for name in ARRAYS},
        }


def is_taken(out: Path) -> bool:
    """True if something is there already; an empty folder is as good as none."""
    return (out.is_dir() and any(out.iterdir())) or (out.exists() and not out.is_dir())


def same_corpus(out: Path, inputs: Mapping[str, Any], options: Mapping[str, Any]) -> Corpus:
    """The corpus at `out`, if it was made of the same files in the same way and is whole; or an error that says why not."""
    try:
        manifest = read_manifest(out)
    except CorpusError as error:
        raise CorpusError(f"{out} holds something else already: {error}") from None
    made = {split: [file["sha256"] for file in manifest["splits"][split]["inputs"]] for split in manifest["splits"]}
    wanted = {split: [file["sha256"] for file in several] for split, several in inputs.items()}
    differences = [f"other files for {split}" for split in SPLITS if made.get(split) != wanted.get(split)]
    differences += [
        f"{name} {manifest['options'].get(name)} instead of {value}"
        for name, value in options.items()
        if manifest["options"].get(name) != value
    ]
    if differences:
        raise CorpusError(
            f"{out} holds a corpus that was prepared otherwise: {'; '.join(differences)}.\n"
            "Remove it, or give another folder."
        )
    corpus = Corpus.open(out)
    corpus.verify()
    return corpus
