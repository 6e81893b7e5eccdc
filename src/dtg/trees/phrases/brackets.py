"""Reads and writes trees in Penn brackets, one a line or over several, and counts what is removed or changed on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dtg.errors import InputError, TreebankError
from dtg.io.atomic import replacing
from dtg.io.settings import check_choice
from dtg.io.text_files import check_is_file, open_to_write
from dtg.trees.conllu import SKIP_ADVICE, SentenceProblem
from dtg.trees.phrases.bracket_lines import Bracket, BracketBlock, bracket_blocks, parse_block, shortened
from dtg.trees.phrases.constituency import BracketSource, ConstituencyTree, format_nodes, written_words
from dtg.trees.phrases.nodes import Node, children_of
from dtg.trees.report import BracketCounts, SkippedSentence, TreebankReport

Unary = Literal["keep", "collapse"]
Functions = Literal["strip", "keep"]
Traces = Literal["remove", "keep"]
Tags = Literal["auto", "present", "absent"]

TRACE = "-NONE-"  # the tag of a word that is not there
NO_TAG = "_"  # written where, without a tag, a phrase of one word would look like one
NO_LABEL = "X"  # of the phrase that is put over words that have none
WRAPPERS = ("", "ROOT", "TOP", "S1")  # labels of brackets around the sentence that are no phrases
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
UNESCAPED = {**BRACKETS, r"\/": "/", r"\*": "*"}

ESCAPED = re.compile("|".join(map(re.escape, UNESCAPED)))
FUNCTION = re.compile(r"([^-=]+)[-=]")  # a label before its functions and indices; one that begins with a dash has none


@dataclass(frozen=True, slots=True)
class BracketPolicy:
    """What happens to what stands in the brackets."""

    unary: Unary
    functions: Functions
    traces: Traces
    tags: Tags

    def __post_init__(self) -> None:
        check_choice("unary", self.unary, ("keep", "collapse"))
        check_choice("functions", self.functions, ("strip", "keep"))
        check_choice("traces", self.traces, ("remove", "keep"))
        check_choice("tags", self.tags, ("auto", "present", "absent"))


def read_brackets(
    path: str | Path,
    *,
    unary: Unary = "keep",
    functions: Functions = "strip",
    traces: Traces = "remove",
    tags: Tags = "auto",
    skip_invalid: bool = False,
    report: TreebankReport | None = None,
) -> Iterator[ConstituencyTree]:
    """Stream the trees of a file in Penn brackets, compressed (.gz, .xz) or not, one a line or over several.

    Brackets around the sentence without a label, or labelled ROOT, TOP or S1, are no phrases and are removed; where no other
    phrase has all words, one labelled X is put over them. The escapes -LRB- and its like,
    and backslashes before a slash or star, are undone in words.

    Args:
        path: the file.
        unary: of several phrases over the same words, "keep" all or "collapse" them into the outermost.
        functions: "strip" what follows a dash or an equals sign in a label (NP-SBJ=1 becomes NP), or "keep" it.
        traces: "remove" words tagged -NONE-, and phrases that are empty without them, or "keep" them as words.
        tags: whether words have part-of-speech tags: "present", "absent", or "auto", which takes the brackets around
            single words for tags where nearly every word of the sentence is alone in its brackets.
        skip_invalid: leave out sentences that cannot be read, instead of raising a `TreebankError`.
        report: counts what is removed, changed or left out.

    Returns:
        The trees, read as they are asked for.
    """
    policy = BracketPolicy(unary, functions, traces, tags)
    path = Path(path)
    check_is_file(path)
    return _trees(path, policy, skip_invalid, TreebankReport() if report is None else report)


def parse_brackets(text: str) -> ConstituencyTree:
    """One tree in Penn brackets, under the policies of `read_brackets`.

    >>> parse_brackets("(S (NP The dog) (VP barks))").labels
    ('NP', 'S', 'VP')
    """
    policy = BracketPolicy("keep", "strip", "remove", "auto")
    lines = [(number, line.encode()) for number, line in enumerate(text.splitlines(), start=1)]
    try:
        trees = [BracketedTree(brackets, policy) for brackets in parse_block(BracketBlock(lines))]
    except SentenceProblem as problem:
        raise InputError(f"these are not the brackets of a tree: {problem.reason}") from None
    if len(trees) != 1 or not trees[0].words:
        raise InputError(f"the brackets of one tree with words are expected; there are {len(trees)} trees.")
    return trees[0].tree()


def write_brackets(trees: Iterable[ConstituencyTree], path: str | Path) -> int:
    """Write trees in brackets, one a line; an interrupted write leaves no file.

    Args:
        trees: the trees. Where the words have no tags, and phrases of one word would be taken for tags, `_` is written as tag.
        path: the file, compressed if its name ends in .gz or .xz.

    Returns:
        The number of trees.
    """
    path, count = Path(path), 0
    with replacing(path) as temporary, open_to_write(temporary, suffix=path.suffix) as file:
        for tree in trees:
            file.write(f"{format_for_file(tree)}\n".encode())
            count += 1
    return count


def format_for_file(tree: ConstituencyTree) -> str:
    """One tree in a line that `read_brackets` reads as the same tree."""
    tags, children = tree.tags, children_of(tree.nodes)
    if tags is None and looks_tagged((sum(child > 0 for child in below), len(below)) for below in children):
        tags = (NO_TAG,) * len(tree)
    return format_nodes(tree.nodes, written_words(tree.words, tags))


def _trees(path: Path, policy: BracketPolicy, skip_invalid: bool, report: TreebankReport) -> Iterator[ConstituencyTree]:
    sentence = 0

    def leave_out(line: int, reason: str) -> None:
        report.skipped.append(SkippedSentence(str(path), sentence, line, reason))

    def answer(problem: SentenceProblem) -> None:
        if not skip_invalid:
            advice = f"{problem.advice} {SKIP_ADVICE}"
            raise TreebankError(path, sentence, problem.line, problem.reason, advice) from None
        leave_out(problem.line, problem.reason)

    for block in bracket_blocks(path):
        try:
            found = parse_block(block)
        except SentenceProblem as problem:
            sentence += 1
            answer(problem)
            continue
        for brackets in found:
            sentence += 1
            try:
                reading = BracketedTree(brackets, policy)
            except SentenceProblem as problem:
                answer(problem)
                continue
            line = brackets[0].line
            if not reading.words:
                leave_out(line, "the sentence has no words: all of them are traces.")
                continue
            report.sentences += 1
            report.words += len(reading.words)
            report.brackets.add(reading.counts)
            yield reading.tree(BracketSource(str(path), sentence, line))


def looks_tagged(contents: Iterable[tuple[int, int]]) -> bool:
    """True if the brackets around single words are tags, by how many words and how many children are in each pair.

    Not if a word is beside a phrase, or if more than a few have another word beside them; those few are words with a
    space in them.
    """
    alone = together = 0
    for words, children in contents:
        if 0 < words < children:
            return False
        if words == 1:
            alone += 1
        else:
            together += words
    return alone >= 4 * together


class BracketedTree:
    """One tree's words, tags and phrases after all policies, and counts of what these did."""

    def __init__(self, brackets: Sequence[Bracket], policy: BracketPolicy) -> None:
        self.policy, self.counts = policy, BracketCounts()
        self.words, self.tags, self.nodes = list[str](), list[str](), list[Node]()
        self.is_tagged = policy.tags == "present"
        if policy.tags == "auto":
            self.is_tagged = looks_tagged((bracket.words, len(bracket.children)) for bracket in brackets)
        self.walk(brackets[0])
        if self.words:
            self.unwrap()
        if policy.unary == "collapse":
            self.collapse()
        if all(tag == NO_TAG for tag in self.tags):
            self.is_tagged = False
        self.counts.untagged += not self.is_tagged

    def tree(self, source: BracketSource | None = None) -> ConstituencyTree:
        return ConstituencyTree(
            tuple(self.words), tuple(self.nodes), tuple(self.tags) if self.is_tagged else None, source
        )

    def walk(self, root: Bracket) -> None:
        """Collect words and phrases from left to right; without recursion, as brackets may be nested deeply."""
        kept = list[Node | None]()
        pending: list[Bracket | str | int] = [root]  # brackets and words to come, and places of phrases to close
        while pending:
            item = pending.pop()
            if isinstance(item, int):
                opened = kept[item]
                assert opened is not None
                if len(self.words) < opened.first:
                    kept[item] = None
                    self.counts.emptied += 1
                else:
                    kept[item] = Node(self.phrase_label(opened.label), opened.first, len(self.words))
            elif isinstance(item, str):
                self.add_word(item, NO_TAG)
            elif item.words == len(item.children) and (self.is_tagged or item.label == TRACE):
                self.add_leaf(item)
            else:
                if self.is_tagged:
                    self.check_has_tags(item)
                if item.label or item is root:
                    pending.append(len(kept))
                    kept.append(Node(item.label, len(self.words) + 1, 0))
                else:
                    self.counts.unlabelled += 1
                pending += reversed(item.children)
        self.nodes = [node for node in kept if node is not None]

    def add_leaf(self, leaf: Bracket) -> None:
        """A tag with its word; with several, if that word has spaces in it."""
        if leaf.label == TRACE and self.policy.traces == "remove":
            self.counts.traces += len(leaf.children)
            return
        self.counts.split_words += len(leaf.children) > 1
        for word in leaf.children:
            assert isinstance(word, str)
            self.add_word(word, leaf.label)

    def add_word(self, word: str, tag: str) -> None:
        written = ESCAPED.sub(lambda found: UNESCAPED[found[0]], word)
        self.counts.unescaped += written != word
        self.words.append(written)
        self.tags.append(tag)

    def phrase_label(self, label: str) -> str:
        match = FUNCTION.match(label) if self.policy.functions == "strip" else None
        self.counts.stripped += match is not None
        return match[1] if match else label

    def check_has_tags(self, phrase: Bracket) -> None:
        for child in phrase.children:
            if isinstance(child, str):
                raise SentenceProblem(
                    phrase.line,
                    f"the word {shortened(child)!r} has no tag, but tags were said to be present.",
                    'Put brackets with a tag around it, pass tags="auto" or tags="absent",',
                )

    def unwrap(self) -> None:
        """Remove brackets around the sentence that are no phrases, and see to it that a phrase has all words."""
        wrappers = 0
        while wrappers < len(self.nodes) and self.nodes[wrappers].label in WRAPPERS and self.is_whole(wrappers):
            wrappers += 1
        del self.nodes[:wrappers]
        self.counts.unwrapped += wrappers > 0
        if not self.nodes or not self.is_whole(0):
            self.nodes.insert(0, Node(NO_LABEL, 1, len(self.words)))
            self.counts.without_phrase += 1

    def is_whole(self, place: int) -> bool:
        return (self.nodes[place].first, self.nodes[place].last) == (1, len(self.words))

    def collapse(self) -> None:
        """Keep the outermost of the phrases over the same words."""
        spans = dict[tuple[int, int], Node]()
        for node in self.nodes:
            spans.setdefault((node.first, node.last), node)
        self.counts.collapsed += len(self.nodes) - len(spans)
        self.nodes = list(spans.values())
