"""How treebanks are read: which files hold which kind of tree, and the policies for what cannot be taken as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from dtg.errors import InputError, TreebankError, TreeError
from dtg.io.settings import check_choice
from dtg.trees.conllu import ROOTS, Roots
from dtg.trees.kinds import BINARY, CONSTITUENCY, DEPENDENCY, Tree, TreeKind
from dtg.trees.phrases.brackets import BracketPolicy, Functions, Tags, Traces, Unary, read_brackets
from dtg.trees.phrases.constituency import BracketSource, ConstituencyTree
from dtg.trees.phrases.projection import PHRASE_LABELS, PhraseLabels
from dtg.trees.report import SkippedSentence, TreebankReport
from dtg.trees.tree import DependencyTree
from dtg.trees.treebank import NONPROJECTIVE, NonProjective, read_treebank

TreeFormat = Literal["auto", "conllu", "brackets"]
TREE_FORMATS: tuple[TreeFormat, ...] = ("auto", "conllu", "brackets")
BRACKET_FILES = (".ptb", ".mrg", ".brackets")
CONLLU_FILES = (".conllu", ".conll")
COMPRESSED = (".gz", ".xz")
LEAVE_OUT = "With skip_invalid=True such sentences are left out (they are counted and listed)."


class TreeReading(Protocol):
    """A way to read treebanks."""

    @property
    def kind(self) -> TreeKind:
        """Of the trees that are read."""

    def read(self, paths: Iterable[str | Path], report: TreebankReport | None = None) -> Iterator[Any]:
        """Stream the trees of files; the report counts what is changed or left out."""

    def options(self) -> dict[str, Any]:
        """The policies by name, for records of how something was made."""


@dataclass(frozen=True, slots=True)
class TreebankReading:
    """Dependencies from CoNLL-U, as they are or projected to phrases.

    The policies are those of `read_treebank`; `project` says how the phrases that dependencies become are labelled (see
    `ConstituencyTree.from_dependencies`). Without it, trees stay dependencies.
    """

    nonprojective: NonProjective = "lift"
    roots: Roots = "error"
    skip_invalid: bool = False
    project: PhraseLabels | None = None

    def __post_init__(self) -> None:
        check_choice("nonprojective", self.nonprojective, NONPROJECTIVE)
        check_choice("roots", self.roots, ROOTS)
        if self.project is not None:
            check_choice("project", self.project, PHRASE_LABELS)

    @property
    def kind(self) -> TreeKind:
        return DEPENDENCY if self.project is None else CONSTITUENCY

    def read(self, paths: Iterable[str | Path], report: TreebankReport | None = None) -> Iterator[Any]:
        """Stream the trees of files; the report counts what is changed or left out."""
        report = TreebankReport() if report is None else report
        trees = read_treebank(
            paths,
            nonprojective=self.nonprojective,
            roots=self.roots,
            skip_invalid=self.skip_invalid,
            report=report,
        )
        return trees if self.project is None else projected(trees, self.project, self.skip_invalid, report)

    def options(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BracketReading:
    """Phrase-structure trees from Penn brackets; the policies are those of `read_brackets`."""

    unary: Unary = "keep"
    functions: Functions = "strip"
    traces: Traces = "remove"
    tags: Tags = "auto"
    skip_invalid: bool = False

    def __post_init__(self) -> None:
        BracketPolicy(self.unary, self.functions, self.traces, self.tags)  # raises for an unknown one

    @property
    def kind(self) -> TreeKind:
        return CONSTITUENCY

    def read(self, paths: Iterable[str | Path], report: TreebankReport | None = None) -> Iterator[Any]:
        """Stream the trees of files; the report counts what is changed or left out."""
        report = TreebankReport() if report is None else report
        streams = [read_brackets(path, **asdict(self), report=report) for path in paths]
        return (tree for stream in streams for tree in stream)

    def options(self) -> dict[str, Any]:
        return {"trees": "brackets", **asdict(self)}


def is_bracket_file(path: str | Path) -> bool:
    """Whether a file is named as one of trees in brackets."""
    return bare_suffix(path) in BRACKET_FILES


def is_conllu_file(path: str | Path) -> bool:
    """Whether a file is named as one of dependencies."""
    return bare_suffix(path) in CONLLU_FILES


def bare_suffix(path: str | Path) -> str:
    """The end of a file's name, in small letters, without that of its compression."""
    bare = Path(path)
    return (bare.with_suffix("") if bare.suffix.lower() in COMPRESSED else bare).suffix.lower()


def holds_brackets(paths: Iterable[str | Path], trees: TreeFormat = "auto") -> bool:
    """Whether files hold brackets rather than CoNLL-U: as it is said or, with "auto", by their names."""
    check_choice("trees", trees, TREE_FORMATS)
    if trees != "auto":
        return trees == "brackets"
    files = [(path, is_bracket_file(path)) for path in paths]
    bracketed = [path for path, is_bracketed in files if is_bracketed]
    others = [path for path, is_bracketed in files if not is_bracketed]
    if bracketed and others:
        raise InputError(
            f"{bracketed[0]} is named as a file of brackets ({', '.join(BRACKET_FILES)}) and {others[0]} is not; trees of one"
            " kind are expected. Say which format all of them have, or give them one by one."
        )
    return bool(bracketed)


def projected(
    trees: Iterable[DependencyTree], labels: PhraseLabels, skip_invalid: bool, report: TreebankReport
) -> Iterator[ConstituencyTree]:
    """Dependencies from files as phrases, with where they come from. A tree without the labels asked for is an error."""
    for tree in trees:
        source = tree.source
        assert source is not None  # these trees come from files
        try:
            phrases = ConstituencyTree.from_dependencies(tree, labels)
        except TreeError as error:
            if not skip_invalid:
                raise TreebankError(source.path, source.sentence, source.line, str(error), LEAVE_OUT) from None
            report.sentences -= 1
            report.words -= len(tree)
            report.skipped.append(SkippedSentence(source.path, source.sentence, source.line, str(error)))
            continue
        yield replace(phrases, source=BracketSource(source.path, source.sentence, source.line, source.comments))


def as_kind(tree: Tree, kind: TreeKind | None) -> Tree:
    """The tree as a model of this kind of tree takes it: phrases are binarised where binary trees are wanted."""
    return tree.binarize() if kind is BINARY and isinstance(tree, ConstituencyTree) else tree
