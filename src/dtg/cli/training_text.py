"""Parses plain text for `dtg prepare`, resumably, into treebanks beside the corpus.

The trees are in OUT.parsed, one file for each split. They stay: an interrupted run resumes them, and a corpus that is made of
the same text again uses them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dtg.cli.commands.train_parser import HELD_OUT
from dtg.cli.loading import load_parser, provenance
from dtg.cli.output.destination import Destination
from dtg.cli.sentences import is_treebank
from dtg.cli.trees import ParserTrees, TreeSelection, write_parsed
from dtg.errors import CorpusError, InputError
from dtg.io.processes import ALONE, Processes
from dtg.io.settings import changes
from dtg.text.words import ENGLISH
from dtg.trees.reading import is_bracket_file

if TYPE_CHECKING:
    from dtg.parser import Parser
    from dtg.tables.plain_text import TextPart, TextReading
    from dtg.text import ParsedText, PlainText

IS_NEEDED = "the text is parsed"  # what the first process tells the others


def is_text(path: Path) -> bool:
    """Whether a file given as a treebank is plain text by its name."""
    return Path(path.name.removesuffix(".gz")).suffix.lower() == ".txt"


def check_text(paths: Sequence[Path]) -> None:
    """Raise if a treebank is given as text: every line of it would be a sentence."""
    for path in paths:
        if is_treebank(path.name) or is_bracket_file(path):
            raise InputError(f"--text is for plain text, but {path} is named as a treebank. Give it with --train.")


@dataclass(frozen=True, slots=True)
class TextParsing:
    """Which text is to be parsed, how, and for which corpus."""

    files: Mapping[str, Sequence[Path]]
    out: Path
    reading: TextReading
    parser: Path
    device: str
    holds_out: bool  # dev is a part of the training text
    has_phrases: bool = False  # the parser's trees are phrases, in brackets
    processes: Processes = ALONE  # that parse it together

    def plain_text(self) -> PlainText:
        """For `prepare_corpus`."""
        from dtg.text import PlainText

        return PlainText(self.files, self.settings(), self.holds_out, self.parse, self.has_phrases)

    def settings(self) -> dict[str, Any]:
        """What decides the trees besides the text."""
        from dtg.parser.saving import parser_hash

        held_out = HELD_OUT if self.holds_out else None
        reading = asdict(self.reading)
        reading["language"] = None if self.reading.language == ENGLISH else self.reading.language
        return {"parser": parser_hash(self.parser), **reading, "held_out": held_out}

    @property
    def folder(self) -> Path:
        return self.out.with_name(f"{self.out.name}.parsed")

    def parse(self) -> dict[str, ParsedText]:
        """Parse the text of every split, or what an earlier run has not parsed. The small ones come first."""
        from dtg.tables.plain_text import TextPart, unit_to_hold_out

        if self.processes.is_main:
            self.processes.tell(IS_NEEDED, True)
        if not self.out.parent.is_dir():
            raise InputError(f"cannot write {self.out}: the folder {self.out.parent} does not exist.")
        parser = load_parser(self.parser, self.device)
        self.folder.mkdir(exist_ok=True)
        work: dict[str, tuple[Sequence[Path], TextPart | None]] = {
            split: (files, None) for split, files in self.files.items()
        }
        if self.holds_out:
            files = self.files["train"]
            by = unit_to_hold_out(files, HELD_OUT)
            typer.echo(f"dtg: no --dev FILE: every {HELD_OUT}th {by} of the text is kept for dev.", err=True)
            work["train"] = (files, TextPart(by, HELD_OUT, held_out=False))
            work["dev"] = (files, TextPart(by, HELD_OUT, held_out=True))
        return {split: self.parsed(parser, split, *work[split]) for split in ("dev", "test", "train") if split in work}

    def help(self) -> None:
        """Parse a share of the text, if the first process finds that it has to be parsed."""
        if self.processes.hear(IS_NEEDED):
            self.parse()

    def parsed(self, parser: Parser, split: str, paths: Sequence[Path], part: TextPart | None) -> ParsedText:
        """One split's text as a file of trees."""
        from dtg.io.hashing import file_hash
        from dtg.tables.plain_text import TextFiles
        from dtg.tables.sidecar import read_sidecar, sidecar_path
        from dtg.text import ParsedText

        path = self.folder / f"{split}.{'ptb' if self.has_phrases else 'conllu'}"
        texts = TextFiles(paths, self.reading, part)
        hashes = [file_hash(text) for text in paths]
        settings = {**self.settings(), "text": hashes, "device": str(parser.device)}
        sidecar = provenance("prepare", settings, {"parser": str(self.parser), "input": list(map(str, paths))})
        if sidecar_path(path).exists():
            before = read_sidecar(sidecar_path(path)).settings
            now = sidecar.settings
            if differing := [one.name for one in changes({name: before.get(name) for name in now}, now)]:
                raise CorpusError(
                    f"{path} holds trees that were made otherwise: {', '.join(differing)} differ.\n"
                    f"Remove {self.folder}, or give another --out."
                )
        to = Destination(path, "jsonl", "resume")
        trees = ParserTrees(parser, TreeSelection(), annotate=False)
        write_parsed(iter(texts), texts.size, trees, to, sidecar, self.processes)
        if part is not None and part.held_out and not read_sidecar(sidecar_path(path)).progress.sentences:
            raise InputError("the text is too short to keep a part of it for dev. Pass --dev FILE.")
        return ParsedText(path, texts.skipped)
