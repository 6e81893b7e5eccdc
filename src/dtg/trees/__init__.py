"""Sentences with trees, of dependencies or phrases, and the files they come in."""

from dtg.trees.conllu import format_conllu, read_conllu, write_conllu
from dtg.trees.phrases.binarization import BinaryTree
from dtg.trees.phrases.brackets import read_brackets, write_brackets
from dtg.trees.phrases.constituency import ConstituencyTree, Node
from dtg.trees.projective import Projectivized, projectivize
from dtg.trees.reading import BracketReading, TreebankReading, TreeReading
from dtg.trees.report import SkippedSentence, TreebankReport
from dtg.trees.tree import ROOT, DependencyTree
from dtg.trees.treebank import read_treebank, require_projective

__all__ = [
    "ROOT",
    "BinaryTree",
    "BracketReading",
    "ConstituencyTree",
    "DependencyTree",
    "Node",
    "Projectivized",
    "SkippedSentence",
    "TreeReading",
    "TreebankReading",
    "TreebankReport",
    "format_conllu",
    "projectivize",
    "read_brackets",
    "read_conllu",
    "read_treebank",
    "require_projective",
    "write_brackets",
    "write_conllu",
]
