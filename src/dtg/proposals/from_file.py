"""Files of trees as proposals, CoNLL-U or brackets: the trees of a sentence are looked up by its words.

A sentence may have several trees, as in the n-best lists and samples that `dtg parse` writes, or occur several times. Trees are
read when they are asked for.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

from dtg.errors import InputError, TreebankError
from dtg.io.messages import pluralize
from dtg.io.text_files import open_seekable
from dtg.proposals.repair import RepairCounts
from dtg.proposals.tree_index import TreeRun, index_of, index_of_brackets, read_blocks, read_phrases
from dtg.scoring.proposal import Drawn, Draws
from dtg.tables.sidecar import read_sidecar, sidecar_path
from dtg.text.words import checked_words
from dtg.trees import DependencyTree
from dtg.trees.conllu import SentenceProblem, parse_block
from dtg.trees.kinds import Tree
from dtg.trees.phrases.brackets import BracketPolicy
from dtg.trees.phrases.constituency import BracketSource
from dtg.trees.reading import COMPRESSED, TreeFormat, holds_brackets

LOG_PROBABILITY = re.compile(r"^#\s*log_prob\s*=\s*(-?\d+(?:\.\d+)?)\s*$", re.MULTILINE)
POLICY = BracketPolicy(unary="keep", functions="strip", traces="remove", tags="auto")
FIRST_OF_LIST = re.compile(r"^#\s*tree\s*=\s*1\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ListedTree:
    """A tree of the file, repaired, and what its comments say."""

    tree: Tree
    log_q: float | None
    begins_list: bool
    is_repaired: bool


class FileProposal:
    """The trees of a file; a `dtg.scoring.proposal.Proposal`. `repairs` counts what was changed in them.

    Of a file that `dtg parse` has written, with its .meta.json beside it, it is known how its trees were drawn, and their
    probabilities. Trees of any other file are not drawn at random.

    Args:
        path: a CoNLL-U file or one in brackets, compressed or not.
        trees: which format the file has; "auto" is by its name.
    """

    def __init__(self, path: str | Path, *, trees: TreeFormat = "auto") -> None:
        self.path, self.repairs = Path(path), RepairCounts()
        self.has_brackets = holds_brackets([path], trees)
        self.file = open_seekable(self.path)
        weakref.finalize(self, self.file.close)
        self.drawn = how_drawn(self.path, self.file.seek(0, 2))
        if self.has_brackets:
            self.index = index_of_brackets(self.path, self.file, POLICY)
        else:
            self.index = index_of(self.path, self.file, keep_repeats=self.drawn == "independently")

    def propose(self, words: Sequence[str], count: int, generator: torch.Generator) -> Draws:
        """Look up the trees of a sentence.

        Equal trees are given once, except for independent draws. Trees from two lists that were each drawn without replacement
        are not such a draw together: they count as not drawn at random.

        Args:
            words: the words of the sentence, split and spelt as in the file.
            count: how many trees.
            generator: not used.

        Returns:
            The first `count` trees, or all if there are fewer.
        """
        words = checked_words(words)
        chosen, seen, lists, drawn = list[ListedTree](), set[Hashable](), 0, self.drawn
        for listed in self.trees(words):
            lists += listed.begins_list
            if listed.tree.key in seen and drawn != "independently":
                continue
            if lists > 1 and drawn == "without replacement":
                drawn = "not at random"
            seen.add(listed.tree.key)
            chosen.append(listed)
            if len(chosen) == count:
                break
        if not chosen:
            raise InputError(
                f"{self.path} has no tree of {' '.join(words)!r} ({pluralize(len(words), 'word')}).\n"
                "Trees are looked up by their words, which must be split and spelt in the same way. Add a tree of this "
                "sentence to the file, or name a parser instead."
            )
        trees = tuple(listed.tree for listed in chosen)
        log_q = tuple(listed.log_q for listed in chosen if listed.log_q is not None and not listed.is_repaired)
        if drawn is None or len(log_q) < len(trees):
            return Draws(trees)
        return Draws(trees, log_q, drawn)

    def trees(self, words: tuple[str, ...]) -> Iterator[ListedTree]:
        """The trees of these words in the file's order, repaired."""
        runs = self.index.find([word.encode() for word in words])
        if self.has_brackets:
            return self._phrases(words, runs)
        return self._dependencies(words, runs)

    def _phrases(self, words: tuple[str, ...], runs: Iterable[TreeRun]) -> Iterator[ListedTree]:
        for run in runs:
            trees = read_phrases(self.path, self.file, POLICY, run)
            for sentence, (line, _, found) in enumerate(trees, start=run.sentence):
                if tuple(found.words) != words:  # other words with the same hash
                    break
                self.repairs.add_brackets(found.counts)
                tree = found.tree(BracketSource(str(self.path), sentence, line))
                yield ListedTree(tree, None, begins_list=False, is_repaired=False)

    def _dependencies(self, words: tuple[str, ...], runs: Iterable[TreeRun]) -> Iterator[ListedTree]:
        for run in runs:
            blocks = islice(read_blocks(self.file, run.offset, run.line), run.trees)
            for sentence, (_, line, block) in enumerate(blocks, start=run.sentence):
                tree, further_roots = read_tree(self.path, sentence, line, block)
                if tree.words != words:  # other words with the same hash
                    break
                repaired = self.repairs.repair(tree, further_roots)
                comments = "\n".join(tree.source.comments) if tree.source else ""
                log_q = LOG_PROBABILITY.search(comments)
                yield ListedTree(
                    repaired,
                    float(log_q[1]) if log_q else None,
                    begins_list=FIRST_OF_LIST.search(comments) is not None,
                    is_repaired=repaired != tree or further_roots > 0,
                )


def read_tree(path: Path, sentence: int, line: int, block: list[bytes]) -> tuple[DependencyTree, int]:
    """A sentence's lines as a tree, and how many further root words were attached to the first."""
    try:
        return parse_block(str(path), sentence, line, block, "first")
    except SentenceProblem as problem:
        advice = f"{problem.advice.removesuffix(',')}; trees to be proposed must be whole."
        raise TreebankError(path, sentence, problem.line, problem.reason, advice) from None


def how_drawn(path: Path, size: int) -> Drawn | None:
    """How `dtg parse` has drawn the trees of a file, by the .meta.json beside it; None if there is none."""
    sidecar = sidecar_path(path.with_suffix("") if path.suffix in COMPRESSED else path)
    if not sidecar.exists():
        return None
    advice = f"Remove {sidecar.name} to use the trees as they are, not as drawn at random."
    try:
        content = read_sidecar(sidecar)
    except InputError as error:
        raise InputError(f"{str(error).splitlines()[0]}\n{advice}") from None
    settings = content.settings
    if not content.finished:
        raise InputError(
            f"{path} is not finished: dtg {settings['command']} was interrupted. Resume it first.\n{advice}"
        )
    if content.progress.bytes != size:
        raise InputError(
            f"{path} was changed since dtg {settings['command']} has written it: it has {size:,} bytes, and "
            f"{content.progress.bytes:,} according to {sidecar.name}.\n{advice}"
        )
    if settings["command"] != "parse":
        return None
    if settings["sample"] is None:
        return "not at random"
    return "without replacement" if settings["without_replacement"] else "independently"
