"""Which trees of each sentence `dtg parse` writes: those of a parser, or of a language model's own search."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dtg.cli.loading import NamedModel, provenance
from dtg.cli.output.destination import Destination
from dtg.cli.output.tables import Work, write_trees, write_trees_together
from dtg.errors import InputError
from dtg.io.processes import Processes
from dtg.trees.reading import is_bracket_file, is_conllu_file

if TYPE_CHECKING:
    from dtg.parser import ParsedTree, Parser
    from dtg.search.options import Accuracy
    from dtg.search.state import Ending
    from dtg.tables.columns import Row
    from dtg.tables.items import Item
    from dtg.tables.sidecar import Sidecar
    from dtg.tables.unparsed import UnparsedSentence
    from dtg.trees.kinds import Tree

SAME_COMMAND = "The same command resumes it."
ON_TERMINAL = Path("-")  # --draw without a file


@dataclass(frozen=True, slots=True)
class TreeSelection:
    """Which trees of each sentence: the best, the k best, or k drawn."""

    nbest: int | None = None
    sample: int | None = None
    without_replacement: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.nbest is not None and self.sample is not None:
            raise InputError("--nbest lists the best trees and --sample-trees draws some; give one of them.")
        if self.without_replacement and self.sample is None:
            raise InputError("--without-replacement is about drawing trees; say how many with --sample-trees K.")

    @property
    def count(self) -> int:
        return self.nbest or self.sample or 1

    @property
    def group(self) -> int:
        """Sentences computed together, and computed again after an interruption."""
        return max(16, 1024 // self.count)

    @property
    def is_list(self) -> bool:
        return self.nbest is not None or self.sample is not None

    @property
    def settings(self) -> dict[str, Any]:
        drawn = {"without_replacement": self.without_replacement, "seed": self.seed} if self.sample else {}
        return {"nbest": self.nbest, "sample": self.sample, **drawn}

    def ranks(self, count: int) -> Sequence[int | None]:
        """The numbers of the trees of a sentence, if they are a list."""
        return range(1, count + 1) if self.is_list else [None] * count

    def find(
        self, parser: Parser, items: Iterable[Item[UnparsedSentence]], *, annotate: bool = False
    ) -> Iterator[list[ParsedTree]]:
        """The trees of a group. What is drawn follows from the seed and the number of the group's first sentence."""
        from dtg.search.sampling import generator_of

        some = list(items)
        words = [item.content.words for item in some]
        if self.sample is None:
            return parser.k_best_all(words, self.count, annotate=annotate)
        generator = generator_of(f"{self.seed} {some[0].sentence_id}")
        draw = parser.sample_without_replacement_all if self.without_replacement else parser.sample_all
        return draw(words, self.count, generator, annotate=annotate)


@dataclass(frozen=True, slots=True)
class ParserTrees:
    """The trees of a parser, as CoNLL-U or in brackets, or drawn."""

    parser: Parser
    selection: TreeSelection
    annotate: bool = True

    @property
    def language(self) -> str:
        """Whose rules split raw text."""
        return self.parser.config.language

    def work(self, items: Iterator[Item[UnparsedSentence]], size: int | None) -> Work[UnparsedSentence, Any]:
        return Work(items, size, self.compute, self.rows, (), self.selection.group)

    def compute(self, items: Iterable[Item[UnparsedSentence]]) -> Iterator[list[ParsedTree]]:
        return self.selection.find(self.parser, items, annotate=self.annotate)

    def rows(self, item: Item[UnparsedSentence], found: Sequence[ParsedTree]) -> list[Row]:
        from dtg.tables.unparsed import parsed_conllu, probability_comments
        from dtg.trees.kinds import format_tree

        if self.parser.kind == "constituency":  # brackets have no place for comments
            return [(format_tree(one.tree),) for one in found]
        return [
            (
                parsed_conllu(
                    item.content,
                    one.tree,
                    probability_comments(one.log_probability, rank),
                    arc_probabilities=one.arc_probabilities,
                    tags=one.tags,
                ),
            )
            for rank, one in zip(self.selection.ranks(len(found)), found, strict=True)
        ]

    def drawn(self, found: Sequence[ParsedTree]) -> list[tuple[Tree, str]]:
        """Trees with what is said of each."""
        return [(one.tree, f"p = {one.probability:.3g}") for one in found]


@dataclass(frozen=True, slots=True)
class ModelTrees:
    """The best trees that a language model's own search finds, as CoNLL-U or drawn."""

    model: NamedModel
    selection: TreeSelection
    beam: int | None
    word_beam: int | None
    accuracy: Accuracy | None = None

    def __post_init__(self) -> None:
        from dtg.scoring.reranking import check_has_trees

        check_has_trees(self.model.model)
        if self.selection.sample is not None:
            raise InputError(
                "--sample-trees draws trees of a parser; a language model's search gives the best (--nbest K)."
            )

    @property
    def language(self) -> str:
        """Whose rules split raw text."""
        return self.model.model.language

    def work(self, items: Iterator[Item[UnparsedSentence]], size: int | None) -> Work[UnparsedSentence, Any]:
        return Work(items, size, self.compute, self.rows, (), 1)

    def compute(self, items: Iterable[Item[UnparsedSentence]]) -> Iterator[Ending]:
        for item in items:
            state = self.model.model.begin(self.beam, word_beam=self.word_beam, accuracy=self.accuracy)
            for word in item.content.words:
                state = state.step(word)
            yield state.end()

    def rows(self, item: Item[UnparsedSentence], found: Ending) -> list[Row]:
        from dtg.tables.unparsed import parsed_text

        rows: list[Row] = []
        trees = found.trees(self.selection.count)
        for rank, one in zip(self.selection.ranks(len(trees)), trees, strict=True):
            comments = [] if rank is None else [f"tree = {rank}"]
            comments += [f"log_joint = {one.log_probability:.6f}", f"log_bound = {found.log_probability:.6f}"]
            comments += [f"posterior = {math.exp(one.log_probability - found.log_probability):.6g}"]
            rows.append((parsed_text(item.content, one.tree, comments),))
        return rows

    def drawn(self, found: Ending) -> list[tuple[Tree, str]]:
        """Trees with what is said of each."""
        return [(one.tree, f"ln p = {one.log_probability:.1f}") for one in found.trees(self.selection.count)]


def parser_sidecar(source: str, parser: Path, options: Mapping[str, Any], device: str) -> Sidecar:
    """What decides the trees of a parser, for the file beside them."""
    from dtg.parser.saving import parser_hash

    settings = {**options, "parser_sha256": parser_hash(parser), "device": device}
    return provenance("parse", settings, {"parser": str(parser), "input": source})


def model_sidecar(source: str, trees: ModelTrees, options: Mapping[str, Any]) -> Sidecar:
    """What decides the trees of a language model, for the file beside them."""
    model = trees.model
    from dtg.search.options import BeamOptions

    fixed = {"beam": trees.beam, "word_beam": trees.word_beam}
    limits = BeamOptions.of(**fixed, accuracy=trees.accuracy)
    search = {"by": "model", **(limits.settings() if limits.is_adaptive else fixed)}
    settings = {**options, **search, "model_sha256": model.sha256, "device": str(model.model.device)}
    return provenance("parse", settings, {"model": str(model.folder), "input": source})


def write_parsed(
    items: Iterator[Item[UnparsedSentence]],
    size: int | None,
    trees: ParserTrees | ModelTrees,
    to: Destination,
    sidecar: Sidecar,
    processes: Processes | None = None,
) -> None:
    """Write the trees, show progress, and say what was written. `processes` have met already, if they are given."""
    work = trees.work(items, size)
    if processes is None:
        write_trees(work, to, lambda: sidecar)
    else:
        write_trees_together(work, to, lambda: sidecar, processes, SAME_COMMAND)


def check_kind(given: str | None, parser: Parser, out: Path | None) -> None:
    """Raise unless the parser gives trees of the kind that is asked for, and the file is named as one of such trees."""
    if given is not None and given != parser.kind:
        advice = (
            " The bundled parser gives dependencies; pass --parser parser-phrases (in models/ of the repository), or RUN/best "
            "of dtg train-parser --kind constituency."
            if given == "constituency"
            else ""
        )
        raise InputError(f"--kind says {given}, but the parser gives {parser.kind} trees.{advice}")
    if out is not None and parser.kind == "constituency" and is_conllu_file(out):
        raise InputError(
            f"the parser gives phrases, which are written in brackets; {out} is named as CoNLL-U. Call it .ptb."
        )
    if out is not None and parser.kind == "dependency" and is_bracket_file(out):
        raise InputError(f"the parser gives dependencies; {out} is named as a file of brackets. Call it .conllu.")


def check_draw(pictures: Sequence[Path], out: Path | None) -> None:
    """Raise, before anything is computed, if trees cannot be drawn."""
    from dtg.io.pictures import check_picture_path

    if pictures and out is not None:
        raise InputError("--draw draws trees instead of writing them as CoNLL-U; leave out --out, or --draw.")
    for path in pictures:
        if path != ON_TERMINAL:
            check_picture_path(path)


def draw_parsed(
    items: Iterator[Item[UnparsedSentence]], trees: ParserTrees | ModelTrees, pictures: Sequence[Path]
) -> None:
    """Draw trees on the terminal, and into files where there is one tree."""
    work, has_file = trees.work(items, None), any(path != ON_TERMINAL for path in pictures)
    for number, (_, found) in enumerate(work.results()):
        drawn = trees.drawn(found)
        if has_file and (number or len(drawn) > 1):
            raise InputError("--draw FILE is for one tree; --draw alone draws all of them on the terminal.")
        for tree, known in drawn:
            typer.echo(f"{tree.draw()}\n{known}\n")
            draw_files(tree, pictures)


def draw_files(tree: Tree, pictures: Sequence[Path]) -> None:
    """Draw a tree into files."""
    for path in pictures:
        if path != ON_TERMINAL:
            tree.picture(path)
            typer.echo(f"dtg: drew {path}.", err=True)
