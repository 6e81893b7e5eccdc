"""`dtg evaluate parser`: scores counted by hand on a stand-in, and the command as a user meets it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dtg.evaluation.tasks.gold import bin_name
from dtg.parser import ParsedTree
from dtg.trees import DependencyTree, read_conllu
from tests.cli.running import dtg
from tests.evaluation.parsing import evaluate_parser
from tests.parser.parsers import small_parser

GOLD = """1\tdogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_
3\tloudly\t_\tADV\t_\t_\t2\tadvmod\t_\t_
4\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_

1\t!\t_\tPUNCT\t_\t_\t0\troot\t_\t_

1\ta\t_\tX\t_\t_\t3\tdep\t_\t_
2\tb\t_\tX\t_\t_\t4\tdep\t_\t_
3\tc\t_\tX\t_\t_\t0\troot\t_\t_
4\td\t_\tX\t_\t_\t3\tdep\t_\t_

"""  # the last has crossing arcs


class StandIn:
    """Gives trees known beforehand."""

    is_labelled = True

    def k_best_all(self, sentences: Iterable[Sequence[str]], k: int) -> Iterator[list[ParsedTree]]:
        for words in sentences:
            yield [ParsedTree(DependencyTree(tuple(words), *tree), -1.0) for tree in ANSWERS[words[0]][:k]]


ANSWERS: dict[str, list[tuple[tuple[int, ...], tuple[str, ...]]]] = {
    "dogs": [
        ((2, 0, 2, 3), ("nsubj", "root", "obl", "punct")),  # one head and one more label wrong
        ((2, 0, 2, 2), ("nsubj", "root", "obl", "punct")),
    ],
    "!": [((0,), ("root",))],
    "a": [((3, 3, 0, 3), ("dep", "dep", "root", "dep"))],
}


def test_scores_counted_by_hand(tmp_path: Path) -> None:
    (tmp_path / "gold.conllu").write_text(GOLD)
    found = evaluate_parser(StandIn(), read_conllu(tmp_path / "gold.conllu"), nbest=2)  # type: ignore[arg-type]
    assert found["all"] == {
        "sentences": 3, "words": 9, "uas": 77.78, "las": 66.67, "exact": 33.33, "exact_labelled": 33.33
    }  # fmt: skip
    assert found["without_punctuation"] == {
        "sentences": 2, "words": 7, "uas": 85.71, "las": 71.43, "exact": 50.0, "exact_labelled": 0.0
    }  # fmt: skip
    assert found["oracle"] == {"nbest": 2, "sentences": 3, "words": 9, "uas": 88.89, "exact": 66.67}
    assert found["nonprojective"] == 1
    assert found["by_length"]["1-10"]["words"] == 9 and found["by_length"]["41+"]["uas"] is None
    assert "oracle" not in evaluate_parser(StandIn(), read_conllu(tmp_path / "gold.conllu"))  # type: ignore[arg-type]


def test_bins_of_length() -> None:
    assert [bin_name(words) for words in (1, 10, 11, 40, 41, 200)] == ["1-10", "1-10", "11-20", "31-40", "41+", "41+"]


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "gold.conllu").write_text(GOLD)
    small_parser(labelled=False).save(tmp_path / "parser")
    command = ["evaluate", "parser", str(tmp_path / "gold.conllu"), "--parser", str(tmp_path / "parser")]
    found = json.loads(dtg(*command, "--json", "--nbest", "1000").stdout)
    assert found["format_version"] == 1 and found["all"]["words"] == 9
    assert "las" not in found["all"]
    # All trees are in the list, and all gold trees but the one with crossing arcs.
    assert found["oracle"]["uas"] == 88.89
    shown = dtg(*command).stdout
    assert "without punctuation" in shown and "best of 10" in shown and "are in 1 gold tree." in shown
