"""Everything that dtg reads cheaply, given inputs that nobody means: an error of ours is an answer, anything else a fault."""

from __future__ import annotations

import shutil
import signal
import tomllib
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic
from types import FrameType

from dtg.cli.training import read_config
from dtg.errors import DtgError
from dtg.evaluation.report import find, gather, page_of
from dtg.evaluation.tasks.pairs.blimp_files import read_pairs
from dtg.evaluation.tasks.pairs.own_pairs import read_table, region_words
from dtg.evaluation.tasks.syntaxgym.suites import read_suite
from dtg.io.settings import from_table
from dtg.model.config import ModelConfig
from dtg.model.model import DecoderModel
from dtg.model.saving import read_model
from dtg.parser.saving import read_parser
from dtg.tables.items import Lines, sentence_of
from dtg.tables.long_sentences import LengthLimit
from dtg.tables.records import Records, TreebankSentences, looks_like_a_table
from dtg.tables.sidecar import read_sidecar
from dtg.tables.unparsed import read_unparsed_conllu
from dtg.text.tokenizer import Tokenizer
from dtg.training import TrainingConfig
from dtg.training.log import read_log, summarize_log
from dtg.trees import format_conllu, read_brackets, read_conllu
from dtg.trees.conllu import ROOTS, Roots
from tools.attack.mutators import mutated
from tools.attack.samples import SAMPLES, SAVED

SECONDS = 10  # of the processor, in which every input is to be answered


class TooLong(Exception):  # noqa: N818
    """An input was not answered in time."""


def conllu(path: Path, random: Random) -> None:
    roots: Roots = random.choice(ROOTS)
    trees = list(read_conllu(path, roots=roots, skip_invalid=bool(random.randrange(2))))
    text = "".join(map(format_conllu, trees))
    path.write_bytes(text.encode())
    assert [tree.heads for tree in read_conllu(path)] == [tree.heads for tree in trees], "the round trip differs"
    list(TreebankSentences(path))


def unparsed(path: Path, random: Random) -> None:
    list(LengthLimit(random.choice((2, 5, 200)), random.choice(("skip", "split"))).apply(read_unparsed_conllu(path)))


def brackets(path: Path, random: Random) -> None:
    for tree in read_brackets(path, skip_invalid=bool(random.randrange(2))):
        assert tree.draw()


def text(path: Path, random: Random) -> None:
    looks_like_a_table(path)
    is_split = not random.randrange(20)  # by spaCy, which is slow
    for item in Lines.of_file(path):
        sentence = sentence_of(item.content, tokenized=not is_split)
        assert len(sentence.words) == len(sentence.starts)


def stimuli(path: Path, random: Random) -> None:
    for item in Records(path, "sentence"):
        assert item.content.strip()


def own_pairs(path: Path, random: Random) -> None:
    for pair in read_table(path, "good", "bad", "phenomenon", ("region", "region")):
        assert pair.regions is not None
        region_words(sentence_of(pair.good, tokenized=True), pair.regions[0])


def configuration(path: Path, random: Random) -> None:
    tables = read_config(path)
    ModelConfig.from_dict(tables["model"])
    from_table(TrainingConfig, tables["training"], "[training]")


def saved_model(path: Path, random: Random) -> None:
    read_model(path.parent, verify=False)


def weights(path: Path, random: Random) -> None:
    DecoderModel.load(path.parent, verify=bool(random.randrange(2)))


def saved_parser(path: Path, random: Random) -> None:
    read_parser(path.parent, verify=False)


def results(path: Path, random: Random) -> None:
    page_of(gather(find([path.parent]), {}))


def log(path: Path, random: Random) -> None:
    read_log(path)
    summarize_log(path)


@dataclass(frozen=True, slots=True)
class Reader:
    """What is read, under which name, and by what."""

    name: str
    file: str
    read: Callable[[Path, Random], object]
    is_json: bool = False
    folder: Path | None = None  # what else has to lie beside the file
    share: int = 1  # how many inputs it gets, in proportion

    @property
    def samples(self) -> Sequence[bytes]:
        return SAMPLES[self.name]


READERS = (
    Reader("CoNLL-U", "x.conllu", conllu, share=20),
    Reader("CoNLL-U to be parsed", "x.conllu", unparsed, share=20),
    Reader("brackets", "x.ptb", brackets, share=20),
    Reader("text", "x.txt", text, share=20),
    Reader("tables of stimuli", "x.csv", stimuli, share=10),
    Reader("tables of stimuli, JSON", "x.jsonl", stimuli, is_json=True, share=10),
    Reader("suites", "x.json", lambda path, random: read_suite(path), is_json=True, share=10),
    Reader("BLiMP", "x.jsonl", lambda path, random: read_pairs(path), is_json=True, share=10),
    Reader("own pairs", "x.tsv", own_pairs, share=10),
    Reader("configurations, TOML", "x.toml", configuration, share=10),
    Reader("config.json", "config.json", saved_model, is_json=True, folder=SAVED / "model", share=2),
    Reader("tokenizer.model", "tokenizer.model", lambda path, random: Tokenizer.load(path), share=1),
    Reader("model.safetensors", "model.safetensors", weights, folder=SAVED / "model", share=1),
    Reader("parser's config.json", "config.json", saved_parser, is_json=True, folder=SAVED / "parser", share=5),
    Reader("vocabulary.json", "vocabulary.json", saved_parser, is_json=True, folder=SAVED / "parser", share=5),
    Reader("sidecars", "x.csv.meta.json", lambda path, random: read_sidecar(path), is_json=True, share=20),
    Reader("results.json", "results.json", results, is_json=True, share=1),
    Reader("training logs", "log.jsonl", log, is_json=True, share=5),
)


@dataclass(slots=True)
class Tally:
    """What became of the inputs of one reader."""

    name: str
    tried: int = 0
    refused: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)  # each with the number that makes it again


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise `TooLong` in whatever takes more of the processor; that a busy machine is slow is no fault."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooLong(f"no answer in {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def place_of(error: BaseException) -> str:
    """Where an error was raised: the last frame in dtg."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/dtg/" in frame.filename]
    where = f"{frames[-1].filename.split('/dtg/')[-1]}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}: {str(error)[:80]!r}"


def attack(reader: Reader, seed: int, folder: Path, tally: Tally, numbers: range, until: float) -> None:
    """Give a reader the inputs of these numbers, as long as there is time."""
    began = monotonic()
    place = folder / reader.name.replace(" ", "-").replace("/", "-").replace("'", "")
    if not place.exists():
        if reader.folder is None:
            place.mkdir(parents=True)
        else:
            shutil.copytree(reader.folder, place)
    path = place / reader.file
    for number in numbers:
        if monotonic() > until:
            break
        random = Random(f"{seed} {reader.name} {number}")
        path.write_bytes(mutated(random.choice(reader.samples), reader.samples, random, is_json=reader.is_json))
        tally.tried += 1
        try:
            with within(SECONDS), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                reader.read(path, random)
        except DtgError:
            tally.refused += 1
        except Exception as error:
            tally.faults.append(f"{reader.name} --only {number}: {place_of(error)}")
    tally.seconds += monotonic() - began


def check_samples(folder: Path) -> Iterator[str]:
    """Every sample must be readable as it is; otherwise its changes would try little."""
    for reader in READERS:
        for number, sample in enumerate(reader.samples):
            place = folder / f"sample-{reader.name.replace(' ', '-')}-{number}"
            place.mkdir(parents=True) if reader.folder is None else shutil.copytree(reader.folder, place)
            (place / reader.file).write_bytes(sample)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # models of tests/reference have no manifest
                    reader.read(place / reader.file, Random(0))
            except (DtgError, tomllib.TOMLDecodeError) as error:
                yield f"{reader.name}, sample {number}: {error}"
