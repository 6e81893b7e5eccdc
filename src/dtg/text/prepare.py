"""Prepares a corpus: reads treebanks and parsed text, and writes the folder that `Corpus.open` reads (docs/text.md).

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
from dtg.io.atomic import check_parent, replacing_folder
from dtg.io.hashing import file_hash
from dtg.io.json_files import FORMAT_VERSION
from dtg.io.locks import lock_file
from dtg.io.settings import changes
from dtg.io.text_files import check_is_file
from dtg.text.arrays import ARRAYS
from dtg.text.corpus import Corpus
from dtg.text.encoding import TreeEncoder, encode_split, encoder_for
from dtg.text.manifest import TOKENIZER, describe_file, read_manifest, write_manifest
from dtg.text.tokenizer import Tokenizer
from dtg.text.words import ENGLISH
from dtg.trees import BracketReading, SkippedSentence, TreebankReading, TreebankReport, TreeReading

SPLITS = ("train", "dev", "test")
DEFAULT_VOCABULARY = 8_192

# Passes trees on, and may show how far it is: is given the trees, the report that grows with them and what is being done.
ShowProgress = Callable[[Iterable[Any], TreebankReport, str], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class ParsedText:
    """The treebank that the text of a split became, and what of the text was left out."""

    treebank: Path
    skipped: Sequence[SkippedSentence]


@dataclass(frozen=True, slots=True)
class PlainText:
    """Text by split, and how treebanks are made of it."""

    files: Mapping[str, Sequence[Path]]
    # What decides the trees besides the text.
    settings: Mapping[str, Any]
    # True if no dev is given, and `parse` holds out a part of the training text for it.
    held_out: bool
    # Called only if the treebanks are needed.
    parse: Callable[[], Mapping[str, ParsedText]]
    # True if its trees are phrases, in brackets; otherwise they are dependencies.
    has_phrases: bool = False


@dataclass(frozen=True, slots=True)
class PreparedCorpus:
    """The corpus, and whether it had been prepared before."""

    corpus: Corpus
    was_there: bool


def prepare_corpus(
    files: Mapping[str, Sequence[str | Path]],
    out: str | Path,
    *,
    vocabulary: int = DEFAULT_VOCABULARY,
    tokenizer: str | Path | None = None,
    reading: TreeReading | None = None,
    text: PlainText | None = None,
    language: str = ENGLISH,
    progress: ShowProgress | None = None,
) -> PreparedCorpus:
    """Make a corpus of the files of each split, unless `out` has been made of the same files and options already.

    Args:
        files: the treebanks of "train", "dev" and perhaps "test", all of the format that `reading` reads.
        out: the folder to write. It appears only when it is complete.
        vocabulary: how many subwords a tokenizer that is trained on the words of "train" has at most.
        tokenizer: a SentencePiece model to use instead.
        reading: which trees the corpus gets, and what happens to those that cannot be taken as they are: a `TreebankReading`
            for dependencies, projected to phrases if it says so, or a `BracketReading` for phrases in brackets.
        text: plain text that is parsed and added to the treebanks. Its trees are of the same kind: phrases for a
            `BracketReading`, otherwise dependencies, which may be projected.
        language: whose rules split raw text into words as those of the corpus are: a language code, or "none".
        progress: is handed the trees as they are read, for instance to show how far it is.
    """
    reading, out = reading or TreebankReading(), Path(out)
    if text and text.has_phrases != isinstance(reading, BracketReading):
        gets, are = ("phrases", "dependencies") if text.has_phrases else ("dependencies", "phrases in brackets")
        raise InputError(
            f"plain text gets {gets} from a parser, and the treebanks are {are}. Leave one of them out, or name another "
            "parser; dependencies can be projected to phrases."
        )
    inputs = describe_inputs(files, text)
    given = None if tokenizer is None else Tokenizer.load(tokenizer)
    options = {
        "vocabulary": vocabulary if given is None else None,
        "tokenizer": given.hash if given else None,
        **reading.options(),
        **(text.settings if text else {}),
        "language": None if language == ENGLISH else language,
    }
    if is_taken(out):
        return PreparedCorpus(same_corpus(out, inputs, options), was_there=True)
    check_parent(out)
    with lock_file(out):
        if is_taken(out):  # another process has made it meanwhile
            return PreparedCorpus(same_corpus(out, inputs, options), was_there=True)
        parsed = text.parse() if text else {}
        try:
            with replacing_folder(out, must_be_new=True) as folder:
                steps = progress or (lambda trees, _report, _what: iter(trees))
                make = Preparation(folder, files, parsed, reading, steps)
                make.write(given or make.trained(vocabulary), inputs, options)
        except OSError as error:
            raise CorpusError(f"cannot prepare {out}: {error}. Nothing was written.") from error
        return PreparedCorpus(Corpus.open(out), was_there=False)


class Preparation:
    """One run, with what its steps share."""

    def __init__(
        self,
        folder: Path,
        files: Mapping[str, Sequence[str | Path]],
        parsed: Mapping[str, ParsedText],
        reading: TreeReading,
        progress: ShowProgress,
    ) -> None:
        self.folder, self.files, self.parsed, self.reading, self.progress = folder, files, parsed, reading, progress

    def trees(self, split: str, report: TreebankReport, what: str) -> Iterator[Any]:
        """The trees of a split: first of its treebanks, then of its text. What of the text was left out is in the report."""
        files = list(self.files.get(split, ()))
        if split in self.parsed:
            files.append(self.parsed[split].treebank)
            report.skipped.extend(self.parsed[split].skipped)
        return self.progress(self.reading.read(files, report), report, what)

    def trained(self, vocabulary: int) -> Tokenizer:
        """A tokenizer for the words of the training split."""
        trees = self.trees("train", TreebankReport(), "counting the words of train")
        return Tokenizer.train((word for tree in trees for word in tree.words), vocabulary)

    def write(self, tokenizer: Tokenizer, inputs: dict[str, Any], options: dict[str, Any]) -> None:
        """The tokenizer, the splits and the manifest."""
        tokenizer.save(self.folder / TOKENIZER)
        kind = self.reading.kind
        encoder = encoder_for(kind)
        splits = {split: self.write_split(split, tokenizer, encoder, inputs[split]) for split in inputs}
        manifest = {
            "format_version": FORMAT_VERSION,
            "made_with": {package: version(package) for package in ("dtg", "sentencepiece")},
            "trees": kind.name,
            "options": options,
            "tokenizer": {
                **describe_file(self.folder, self.folder / TOKENIZER),
                "size": tokenizer.size,
                "training": asdict(tokenizer.training) if tokenizer.training else None,
            },
            "splits": splits,
            encoder.table_name: list(encoder.table),
        }
        write_manifest(self.folder, manifest)

    def write_split(
        self, split: str, tokenizer: Tokenizer, encoder: TreeEncoder, inputs: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Encode one split, and describe it."""
        folder, report = self.folder / split, TreebankReport()
        folder.mkdir()
        encoded = encode_split(self.trees(split, report, f"encoding {split}"), folder, tokenizer, encoder)
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
            "arrays": {name: describe_file(self.folder, folder / f"{name}.npy") for name in (*ARRAYS, *encoder.arrays)},
        }


def is_taken(out: Path) -> bool:
    """True if something is there already; an empty folder counts as nothing."""
    return (out.is_dir() and any(out.iterdir())) or (out.exists() and not out.is_dir())


def same_corpus(out: Path, inputs: Mapping[str, Any], options: Mapping[str, Any]) -> Corpus:
    """The corpus at `out`, if it is intact and was made of the same files with the same options; otherwise raise."""
    try:
        manifest = read_manifest(out)
    except CorpusError as error:
        raise CorpusError(f"{out} holds something else already: {error}") from None
    made = {split: [file["sha256"] for file in manifest["splits"][split]["inputs"]] for split in manifest["splits"]}
    wanted = {split: [file["sha256"] for file in several] for split, several in inputs.items()}
    differing = [f"other files for {split}" for split in SPLITS if made.get(split) != wanted.get(split)]
    before = {name: manifest["options"].get(name) for name in options}
    differing += [f"{one.name} {one.before} instead of {one.now}" for one in changes(before, options)]
    if differing:
        raise CorpusError(
            f"{out} holds a corpus that was prepared otherwise: {'; '.join(differing)}.\n"
            "Remove it, or give another folder."
        )
    corpus = Corpus.open(out)
    corpus.verify()
    return corpus


def describe_inputs(
    files: Mapping[str, Sequence[str | Path]], text: PlainText | None
) -> dict[str, list[dict[str, Any]]]:
    """Paths and hashes of the files of each split, treebanks before text; none, where dev is held out."""
    if unknown := sorted(set(files) - set(SPLITS)):
        raise InputError(f"there is no split called {unknown[0]!r}. Known: {', '.join(SPLITS)}.")
    texts = text.files if text else {}
    given = {split: [*files.get(split, ()), *texts.get(split, ())] for split in SPLITS}
    for split in ("train", "dev"):
        if not given[split] and not (split == "dev" and text and text.held_out):
            raise InputError(f"a corpus needs at least one file for {split}.")
    paths = {split: [Path(path) for path in given[split]] for split in SPLITS if given[split] or split == "dev"}
    for path in (path for split in paths.values() for path in split):
        check_is_file(path)
    return {
        split: [{"path": str(path), "bytes": path.stat().st_size, "sha256": file_hash(path)} for path in several]
        for split, several in paths.items()
    }
