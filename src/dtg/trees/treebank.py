"""Reads several treebank files as one stream of projective trees, and counts what was changed or left out."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from dtg.errors import NonProjectiveError, TreebankError
from dtg.io.settings import check_choice
from dtg.trees.conllu import Roots, read_conllu
from dtg.trees.projective import projectivize
from dtg.trees.report import SkippedSentence, TreebankReport
from dtg.trees.tree import DependencyTree

NonProjective = Literal["lift", "skip", "error"]
NONPROJECTIVE: tuple[NonProjective, ...] = ("lift", "skip", "error")


def read_treebank(
    paths: Iterable[str | Path],
    *,
    nonprojective: NonProjective = "lift",
    roots: Roots = "error",
    skip_invalid: bool = False,
    report: TreebankReport | None = None,
) -> Iterator[DependencyTree]:
    """Stream projective trees from files.

    Args:
        paths: CoNLL-U or CoNLL-X files, gzipped or not.
        nonprojective: what happens to trees with crossing arcs: they are lifted (`projectivize`), skipped, or an error.
        roots: what happens to sentences with several root words; see `read_conllu`.
        skip_invalid: leave out sentences that cannot be read, instead of raising a `TreebankError`.
        report: counts what is lifted, reattached or left out.
    """
    check_choice("nonprojective", nonprojective, NONPROJECTIVE)
    report = TreebankReport() if report is None else report
    streams = [read_conllu(path, roots=roots, skip_invalid=skip_invalid, report=report) for path in paths]
    return _projective((tree for stream in streams for tree in stream), nonprojective, report)


def require_projective(tree: DependencyTree) -> None:
    """Raise unless a transition system can derive the tree."""
    if not tree.is_projective:
        raise NonProjectiveError(
            f"the tree of {' '.join(tree.words)!r} has crossing arcs, and no derivation builds those. "
            "Pass it through dtg.projectivize first (--nonprojective lift)."
        )


def _projective(
    trees: Iterable[DependencyTree], policy: NonProjective, report: TreebankReport
) -> Iterator[DependencyTree]:
    for tree in trees:
        if tree.is_projective:
            yield tree
            continue
        report.nonprojective += 1
        if policy == "lift":
            projective = projectivize(tree)
            report.lifted_sentences += 1
            report.lifted_arcs += len(projective.lifted)
            yield projective.tree
            continue
        assert tree.source is not None  # these trees come from files
        place = (tree.source.path, tree.source.sentence, tree.source.line)
        reason = "the tree has crossing arcs (it is not projective)."
        if policy == "error":
            raise TreebankError(
                *place, reason, "Pass --nonprojective lift to make such trees projective, or skip to leave them out."
            )
        report.sentences -= 1
        report.words -= len(tree)
        report.skipped.append(SkippedSentence(*place, reason))
