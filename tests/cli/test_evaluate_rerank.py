"""`dtg evaluate rerank`: scores counted by hand on trees known beforehand, and the command as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dtg.cli.app import app
from dtg.errors import InputError
from dtg.evaluation.bootstrap import mean_interval, ratio_interval
from dtg.evaluation.reranking import RerankedSentence, compare, own_tree, summarize
from dtg.inference.reranking import RankedTree, Reranking
from dtg.model import DecoderModel
from dtg.parser import BiaffineParser
from dtg.parser.evaluation import evaluate as evaluate_parser
from dtg.trees import DependencyTree, read_conllu
from tests.cli.test_evaluate_parser import GOLD
from tests.cli.test_rerank import interrupt
from tests.inference.test_marginal import tiny
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
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    tiny("dtg").save(folder / "model")
    small_parser().save(folder / "parser")
    (folder / "gold.conllu").write_text(GOLD)
    return folder


def counted(folder: Path) -> list[RerankedSentence]:
    rows = []
    for gold in read_conllu(folder / "gold.conllu"):
        scored, own = LISTS[gold.words[0]]
        ranked = [
            RankedTree(DependencyTree(gold.words, heads), score, None, rank)
            for rank, (heads, score) in enumerate(scored, start=1)
        ]
        rows.append(compare(gold, DependencyTree(gold.words, own), Reranking(tuple(ranked), len(ranked))))
    return rows


def test_scores_counted_by_hand(made: Path) -> None:
    """Gold: dogs bark loudly . (2 0 2 2), ! (0), a b c d (3 4 0 3, with crossing arcs)."""
    rows = counted(made)
    first = rows[0]
    assert (first.words, first.proposal, first.reranked, first.oracle) == (4, 0, 3, 3)
    assert (first.scored, first.proposal_scored, first.reranked_scored, first.oracle_scored) == (3, 0, 3, 3)
    assert [row.crosses for row in rows] == [0, 0, 1] and [row.trees for row in rows] == [3, 1, 1]
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


def test_the_oracle_is_chosen_for_each_measure(made: Path) -> None:
    gold = next(read_conllu(made / "gold.conllu"))
    trees = [DependencyTree(gold.words, heads) for heads in ((0, 1, 2, 2), (2, 0, 4, 2), (2, 0, 1, 1))]
    found = Reranking(tuple(RankedTree(tree, -1.0, None, rank) for rank, tree in enumerate(trees, start=1)), 3)
    row = compare(gold, trees[0], found)
    assert (row.reranked, row.oracle) == (2, 3) and (row.reranked_scored, row.oracle_scored) == (1, 2)


def test_nothing_but_punctuation_and_nothing_at_all(made: Path) -> None:
    assert summarize([counted(made)[1]])["without_punctuation"] is None
    with pytest.raises(InputError, match="no sentences to evaluate"):
        summarize([])


def test_the_proposal_s_own_tree() -> None:
    words, parser = ("a", "b", "c"), small_parser()
    trees = [DependencyTree(words, heads) for heads in ((0, 1, 1), (2, 0, 2))]
    found = Reranking((RankedTree(trees[0], -1.0, -9.0, 2), RankedTree(trees[1], -2.0, -3.0, 1)), 2)
    assert own_tree(parser, found) == parser.parse(words).tree
    assert own_tree(object(), found) is trees[1]  # type: ignore[arg-type]


def run(made: Path, *more: str | Path) -> None:
    command = ["evaluate", "rerank", made / "gold.conllu", "--model", made / "model", "--parser", made / "parser"]
    app([*map(str, [*command, *more])], standalone_mode=False)


def test_the_command(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(made, "--json")
    found = json.loads(capsys.readouterr().out)
    gold = list(read_conllu(made / "gold.conllu"))
    model, parser = DecoderModel.load(made / "model"), BiaffineParser.load(made / "parser")
    alone = evaluate_parser(parser, gold).as_dict()
    assert found["all"]["proposal"]["uas"] == alone["all"]["uas"]
    assert found["without_punctuation"]["proposal"]["uas"] == alone["without_punctuation"]["uas"]
    chosen = [model.rerank(tree.words, parser).best().tree for tree in gold]
    right = sum(
        a == b for tree, best in zip(gold, chosen, strict=True) for a, b in zip(tree.heads, best.heads, strict=True)
    )
    assert found["all"]["reranked"]["uas"] == round(100 * right / 9, 2)
    assert found["all"]["oracle"]["uas"] == 88.89  # all trees are drawn, and gold has an arc that crosses
    assert found["format_version"] == 1 and found["trees_wanted"] == 300 and found["trees"] == 61
    run(made, "--limit", "2", "--trees", "3")
    shown = capsys.readouterr().out
    assert shown.startswith("2 sentences, 2.0 trees a sentence")
    assert "UAS, all words" in shown and "exact, no punctuation" in shown and "crossing" not in shown


def test_an_interrupted_run_goes_on(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold.conllu").write_text(GOLD * 4)
    for name in ("model", "parser"):
        (tmp_path / name).symlink_to(made / name)
    run(tmp_path, "--json")
    whole = capsys.readouterr().out
    computed = interrupt(monkeypatch, at=10)
    out = ("--json", "--out", tmp_path / "rows.jsonl")
    run(tmp_path, *out)
    assert "rows.jsonl is not finished. The same command with --resume goes on." in capsys.readouterr().err
    run(tmp_path, *out, "--resume")
    assert capsys.readouterr().out == whole and len(computed) == 10 + 4
    run(tmp_path, *out, "--resume")  # finished: nothing is computed
    assert capsys.readouterr().out == whole and len(computed) == 14
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["sentence_id"] for row in rows] == list(range(1, 13)) and rows[1]["sent_id"] == "gold.conllu:2"
    with pytest.raises(InputError, match="limit is 3, and was None"):
        run(tmp_path, *out, "--resume", "--limit", "3")
    with pytest.raises(InputError, match=r"Let the name end in \.jsonl"):
        run(tmp_path, "--out", tmp_path / "rows.csv")
