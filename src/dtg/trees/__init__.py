"""Sentences with dependency trees, and the files they come in."""

from dtg.trees.conllu import format_conllu, read_conllu, write_conllu
from dtg.trees.projective import Projectivized, projectivize
from dtg.trees.report import SkippedSentence, TreebankReport
from dtg.trees.tree import ROOT, DependencyTree
from dtg.trees.treebank import read_treebank, require_projective

__all__ = [
    "ROOT",
    "DependencyTree",
    "Projectivized",
    "SkippedSentence",
    "TreebankReport",
    "format_conllu",
    "projectivize",
    "read_conllu",
    "read_treebank",
    "require_projective",
    "write_conllu",
]
