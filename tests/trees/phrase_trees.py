"""Phrase-structure trees for tests: the five of the specification, and random ones."""

from __future__ import annotations

from hypothesis import strategies as st

from dtg import ConstituencyTree
from dtg.trees import Node

# With part-of-speech tags, as in the files of the originals.
FIVE = (
    "(S (NP (DT The) (JJ blue) (NN bird)) (VP (VBZ sings)) (. .))",
    "(S (NP (NP (DT The) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBD left))))) (VP (VBZ is) (ADJP (JJ old))))",
    "(S (NP (NNS Dogs)) (VP (VBP bark)))",
    "(S (NP (PRP She)) (VP (VBD saw) (NP (NP (DT the) (NN girl)) (PP (IN with) (NP (DT a) (NN telescope))))) (. .))",
    "(S (S (NP (NNP Kim)) (VP (VBD came))) (, ,) (CC and) (S (NP (NNP Lee)) (VP (VBD left))) (. .))",
)
FIVE_NODES = (
    (("S", 1, 5), ("NP", 1, 3), ("VP", 4, 4)),
    (
        ("S", 1, 6),
        *(("NP", 1, 4), ("NP", 1, 2), ("SBAR", 3, 4), ("WHNP", 3, 3), ("S", 4, 4), ("VP", 4, 4)),
        *(("VP", 5, 6), ("ADJP", 6, 6)),
    ),
    (("S", 1, 2), ("NP", 1, 1), ("VP", 2, 2)),
    (("S", 1, 8), ("NP", 1, 1), ("VP", 2, 7), ("NP", 3, 7), ("NP", 3, 4), ("PP", 5, 7), ("NP", 6, 7)),
    (("S", 1, 7), ("S", 1, 2), ("NP", 1, 1), ("VP", 2, 2), ("S", 5, 6), ("NP", 5, 5), ("VP", 6, 6)),
)
WORKED_EXAMPLE = ConstituencyTree(
    tuple("The man who left is old".split()),
    tuple(Node(*node) for node in FIVE_NODES[1]),
    tuple("DT NN WP VBD VBZ JJ".split()),
)

text = st.text(st.characters(codec="utf-8", exclude_characters="() \t\r\n\f\v\\"), min_size=1, max_size=5)
plain_labels = st.sampled_from(["S", "NP", "VP", "X", "ADVP|PRT", "-LRB-", "0", "1", "@S", "S+VP", "ÄØ", "="])


@st.composite
def phrases(draw: st.DrawFn, first: int, last: int, labels: st.SearchStrategy[str], chain: int) -> list[Node]:
    """The phrases inside a span, in preorder: some around it, and then those of its parts."""
    around = [Node(draw(labels), first, last) for _ in range(chain)]
    if first == last:
        return around
    cuts = sorted(draw(st.sets(st.integers(first, last - 1), min_size=1)))
    parts = zip([first, *(cut + 1 for cut in cuts)], [*cuts, last], strict=True)
    inside = [draw(phrases(begin, end, labels, draw(st.integers(0, 2)))) for begin, end in parts]
    return around + [node for some in inside for node in some]


@st.composite
def constituency_trees(
    draw: st.DrawFn, labels: st.SearchStrategy[str] = plain_labels, most_words: int = 8
) -> ConstituencyTree:
    """Any tree, with tags or without."""
    words = draw(st.lists(text, min_size=1, max_size=most_words))
    nodes = draw(phrases(1, len(words), labels, draw(st.integers(1, 3))))
    tags = draw(st.none() | st.lists(text, min_size=len(words), max_size=len(words)))
    return ConstituencyTree(tuple(words), tuple(nodes), None if tags is None else tuple(tags))
