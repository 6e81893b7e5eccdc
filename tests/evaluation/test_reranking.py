"""Reranked trees measured: scores counted by hand on trees known beforehand, and what is told of them."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import pytest

from dtg.errors import InputError
from dtg.evaluation.intervals import mean_interval, ratio_interval
from dtg.evaluation.results import Results
from dtg.evaluation.tasks.reranking import RerankedTrees, own_tree
from dtg.evaluation.tasks.reranking_scores import count_right, crossing, measures_table, summarize
from dtg.named_proposal import NamedProposal
from dtg.scoring.reranking import RankedTree, Reranking
from dtg.tables.formats import read_rows
from dtg.trees import DependencyTree, read_conllu
from tests.cli.test_evaluate_parser import GOLD
from tests.parser.parsers import small_parser

Heads = tuple[int, ...]
LISTS: dict[
    str, tuple[list[tuple[Heads, float]], Heads]
] = {  # heads with log p(x, y), the best first; and the proposal's own tree
    "dogs": ([((2, 0, 2, 3), -1.0), ((3, 3, 0, 3), -2.0), ((2, 0, 4, 2), -3.0)], (3, 3, 0, 3)),
    "!": ([((0,), -1.0)], (0,)),
    "a": ([((3, 3, 0, 3), -1.0)], (2, 0, 2, 3)),
}


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> list[DependencyTree]:
    file = tmp_path_factory.mktemp("made") / "gold.conllu"
    file.write_text(GOLD)
    return list(read_conllu(file))


def counted(every: list[DependencyTree]) -> list[dict[str, Any]]:
    rows = []
    for gold in every:
        scored, own = LISTS[gold.words[0]]
        ranked = [
            RankedTree(DependencyTree(gold.words, heads), score, None, rank)
            for rank, (heads, score) in enumerate(scored, start=1)
        ]
        rows.append(count_right(gold, DependencyTree(gold.words, own), Reranking(tuple(ranked), len(ranked))))
    return rows


def test_scores_counted_by_hand(gold: list[DependencyTree]) -> None:
    """Gold: dogs bark loudly . (2 0 2 2), ! (0), a b c d (3 4 0 3, with crossing arcs)."""
    rows = counted(gold)
    first = rows[0]
    assert [first[name] for name in ("words", "proposal", "reranked", "oracle")] == [4, 0, 3, 3]
    assert [first[name] for name in ("scored", "proposal_scored", "reranked_scored", "oracle_scored")] == [3, 0, 3, 3]
    assert [row["crosses"] for row in rows] == [0, 0, 1] and [row["trees"] for row in rows] == [3, 1, 1]
    found = summarize(rows, seed=1)
    assert found["sentences"] == 3 and found["crossing"] == 1 and found["trees"] == 5
    everything, scored = found["all"], found["without_punctuation"]
    assert everything["proposal"] == {"sentences": 3, "words": 9, "uas": 22.22, "exact": 33.33}
    assert everything["reranked"] == {"sentences": 3, "words": 9, "uas": 77.78, "exact": 33.33}
    assert scored["reranked"] == {"sentences": 2, "words": 7, "uas": 85.71, "exact": 50.0}  # "!" has nothing to score
    assert scored["proposal"] == {"sentences": 2, "words": 7, "uas": 14.29, "exact": 0.0}
    low, high = ratio_interval([3, 0, 2], [4, 1, 4], seed=1)
    difference = {"value": 55.56, "interval": [round(100 * low, 2), round(100 * high, 2)]}
    assert everything["difference"]["uas"] == difference and 0 <= low < high == 0.75
    low, high = mean_interval([1, 0], seed=1)
    assert scored["difference"]["exact"] == {"value": 50.0, "interval": [100 * low, 100 * high]}


def test_the_oracle_is_chosen_for_each_measure(gold: list[DependencyTree]) -> None:
    first = gold[0]
    trees = [DependencyTree(first.words, heads) for heads in ((0, 1, 2, 2), (2, 0, 4, 2), (2, 0, 1, 1))]
    found = Reranking(tuple(RankedTree(tree, -1.0, None, rank) for rank, tree in enumerate(trees, start=1)), 3)
    row = count_right(first, trees[0], found)
    assert (row["reranked"], row["oracle"], row["reranked_scored"], row["oracle_scored"]) == (2, 3, 1, 2)


def test_nothing_but_punctuation_and_nothing_at_all(gold: list[DependencyTree]) -> None:
    assert summarize([counted(gold)[1]])["without_punctuation"] is None
    with pytest.raises(InputError, match="no sentences to evaluate"):
        summarize([])


def test_the_proposal_s_own_tree() -> None:
    words, parser = ("a", "b", "c"), small_parser()
    trees = [DependencyTree(words, heads) for heads in ((0, 1, 1), (2, 0, 2))]
    found = Reranking((RankedTree(trees[0], -1.0, -9.0, 2), RankedTree(trees[1], -2.0, -3.0, 1)), 2)
    assert own_tree(parser, found) == parser.parse(words).tree
    assert own_tree(object(), found) is trees[1]  # type: ignore[arg-type]


def test_trees_out_of_reach_have_no_number(gold: list[DependencyTree]) -> None:
    own = DependencyTree(gold[1].words, (0,))
    row = count_right(gold[1], own, Reranking((RankedTree(own, -inf, None, 1),), 1))
    assert row["reranked"] == 1 and row["log_joint"] is None and row["log_bound"] is None  # JSON has no infinity


def test_what_is_told(gold: list[DependencyTree], tmp_path: Path) -> None:
    rows = counted(gold)
    task = RerankedTrees(Path("ud/gold.conllu"), tuple(gold), NamedProposal(small_parser(), "mine", "0"))
    content = task.summarize(rows, "mine")
    assert content["title"] == "Reranking by mine on gold.conllu: 3 sentences, 1.7 trees per sentence"
    first, *_, last = measures_table(content).rows
    assert first[:4] == ["UAS, all words", "22.22", "77.78", "77.78"] and first[4].startswith(
        "+55.56 (from +0.00 to +75"
    )
    assert last[0] == "exact, no punctuation"
    assert content["notes"][-2:] == [
        "crossing arcs, which no proposal has, are in 1 gold tree.",
        "trees: up to 300 a sentence from mine, seed 0.",
    ]
    found = Results(RerankedTrees, "mine", content, {"seed": 0}, {"name": "mine"}, task.tables(rows))
    written = found.as_dict()
    assert (written["kind"], written["settings"], written["given"]) == ("rerank", {"seed": 0}, {"name": "mine"})
    assert written["all"] == summarize(rows)["all"]
    found.write(tmp_path)
    table = [row for _, row in read_rows(tmp_path / "sentences.csv")]
    assert [list(row) for row in table] == [[column.name for column in RerankedTrees.columns]] * 3
    assert [row["reranked"] for row in table] == ["3", "1", "3"]
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {content['title']}\n") and "| UAS, all words | 22.22 | 77.78 | 77.78 | +55.56" in page
    only_punctuation = summarize(rows[1:2])
    assert [cells[0] for cells in measures_table(only_punctuation).rows] == ["UAS, all words", "exact, all words"]
    assert not crossing(only_punctuation)
