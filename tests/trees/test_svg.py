"""Trees, partial trees, states and surprisals as notebooks show them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import dtg
from dtg.trees import ConstituencyTree, DependencyTree, Node
from dtg.trees.kinds import PartialBinaryTree, PartialConstituencyTree, PartialDependencyTree

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_tree_is_a_picture() -> None:
    tree = DependencyTree(("<b>", "犬が", "&", "\x07"), (2, 0, 2, 3), ("det", "root", "cc", "dep"))
    svg = tree.svg()
    assert svg == tree._repr_svg_() and svg.startswith("<svg ")
    assert [text for text in texts(svg) if text in ("<b>", "犬が", "&", "\N{REPLACEMENT CHARACTER}")] == [
        "<b>",
        "犬が",
        "&",
        "\N{REPLACEMENT CHARACTER}",
    ]
    assert {"det", "root", "cc", "dep"} <= set(texts(svg))
    arcs = [path for path in ElementTree.fromstring(svg).iter(f"{SVG}path") if path.get("marker-end")]
    assert len(arcs) == 4


def test_a_partial_tree_has_the_arcs_so_far() -> None:
    partial = PartialDependencyTree(("The", "dog", "barks"), (2, None, None), (0, 2, 3), 0.5, -3.0)
    root = ElementTree.fromstring(partial.svg())
    assert len([path for path in root.iter(f"{SVG}path") if path.get("marker-end")]) == 1
    bold = [element.text for element in root.iter(f"{SVG}text") if element.get("font-weight")]
    assert bold == ["dog", "barks"]


def branches(svg: str) -> int:
    return len(list(ElementTree.fromstring(svg).iter(f"{SVG}path")))


def test_phrases_are_a_picture() -> None:
    words = ("The", "<old>", "dog", "barks")
    nodes = (Node("S", 1, 4), Node("NP", 1, 3), Node("VP", 4, 4))
    tree = ConstituencyTree(words, nodes)
    assert tree.svg() == tree._repr_svg_()
    assert texts(tree.svg()) == ["S", "NP", "VP", *words]
    assert branches(tree.svg()) == 6  # to two phrases and four words
    tagged = ConstituencyTree(words, nodes, tags=("DT", "JJ", "NN", "VBZ"))
    assert branches(tagged.svg()) == 10 and {"DT", "VBZ"} <= set(texts(tagged.svg()))
    binary = tree.binarize().svg()
    assert texts(binary) == list(words) and branches(binary) == 6


def test_partial_phrases_are_a_picture() -> None:
    words = ("The", "dog", "barks")
    partial = PartialConstituencyTree(
        words, (("S", 1, None), ("NP", 1, 2), ("VP", 3, None), ("NP", 4, None)), 0.5, -3.0
    )
    assert texts(partial.svg()) == ["S…", "NP", "VP…", "NP…", *words, "…"]
    assert branches(partial.svg()) == 7
    attached = PartialBinaryTree(words, ((1, 2),), 0.5, -3.0)
    assert texts(attached.svg()) == list(words) and branches(attached.svg()) == 2
    assert attached.draw(ascii_only=True).splitlines() == ["-+- 1 The", " +- 2 dog", "--- 3 barks"]
    assert PartialBinaryTree(words[:1], (), 0.5, -3.0).draw().strip() == "1 The"
    assert branches(PartialBinaryTree((), (), 1.0, 0.0).svg()) == 0


def test_states_and_surprisals_in_notebooks() -> None:
    model = dtg.load("dtg-mini")
    state = model.begin(beam=10)
    assert "before the first word" in repr(state) and state._repr_html_()
    with pytest.warns(UserWarning, match="'The dog' is taken for one word"):
        state.step("The dog")
    state = state.step("Dogs").step("<bark>")
    assert "Dogs <bark>" in repr(state)
    assert "&lt;bark&gt;" in state._repr_html_() and state._repr_html_().count("<svg ") >= 1
    (found,) = model.surprisal([["Dogs", "<i>"]], beam=10)
    assert repr(found).startswith("<SentenceSurprisal 'Dogs <i>': 2 words, log p = -")
    html = found._repr_html_()
    assert "<td>Dogs</td>" in html and "&lt;i&gt;" in html and "<i>" not in html
