"""`dtg.evaluation.evaluate` from Python: every task by name, a task of one's own, results in a notebook, comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from dtg.errors import InputError, UnknownNameError
from dtg.evaluation import Interval, Metric, Results, Task, evaluate
from dtg.evaluation.rendering import Block, TextBlock
from dtg.evaluation.storage import Progress
from dtg.io.processes import Processes
from dtg.language_model import LanguageModel, name_of
from dtg.tables.columns import Column
from tests.cli.test_evaluate_parser import GOLD
from tests.evaluation.pairs.making import record, write
from tests.evaluation.syntaxgym.made_up import content, write_suite
from tests.evaluation.test_running import SENTENCES
from tests.parser.parsers import small_parser
from tests.scoring.test_marginal import tiny


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for family in ("dtg", "txl-tokens"):
        tiny(family).save(folder / "runs" / family / "best")
    records = [record(n, sentence_good=good, sentence_bad=bad) for n, (good, bad) in enumerate(SENTENCES)]
    write(folder / "pairs.jsonl", *records)
    write_suite(folder / "suite.json", content())
    (folder / "gold.conllu").write_text(GOLD)
    return folder


def test_every_task_by_name(made: Path) -> None:
    model = tiny("dtg")
    parser = small_parser()
    options: dict[str, Any] = {"beam": 5, "progress": False}
    found = {
        "blimp": evaluate(model, "blimp", made / "pairs.jsonl", **options),
        "sg": evaluate(model, "sg", made / "suite.json", **options),
        "ppl": evaluate(model, "ppl", made / "gold.conllu", by=["joint", "beam"], **options),
        "rerank": evaluate(model, "rerank", made / "gold.conllu", proposal=parser, trees=3, progress=False),
        "parser": evaluate(parser, "parser", made / "gold.conllu", progress=False),
    }
    for name, results in found.items():
        assert results.task.name == name and results.metrics
        assert all(isinstance(one, Metric) and isinstance(one.value, Interval) for one in results.metrics)
        assert len(results.rows) == len(results.items) > 0
        assert "<table>" in results._repr_html_() and len(repr(results).splitlines()) > 3
    accuracy = next(one for one in found["blimp"].metrics if one.group == "all pairs")
    assert (accuracy.n, accuracy.rule, accuracy.level) == (3, "sentence", "overall")
    assert accuracy.value.low < accuracy.value.value < accuracy.value.high or accuracy.value.value in (0, 100)
    uas = next(one for one in found["parser"].metrics if (one.group, one.name) == ("all words", "uas"))
    assert uas.value.low <= uas.value.value <= uas.value.high and uas.n == 9


def test_models_are_called_by_their_folder(made: Path, tmp_path: Path) -> None:
    runs = made / "runs"
    ours = evaluate(runs / "dtg/best", "blimp", made / "pairs.jsonl", beam=5, out=tmp_path / "ours", progress=False)
    assert ours.name == "dtg" and (tmp_path / "ours/results.json").is_file()
    theirs = evaluate(runs / "txl-tokens/best", "blimp", made / "pairs.jsonl", against=ours, progress=False)
    assert theirs.name == "txl-tokens" and "txl-tokens − dtg: " in repr(theirs)
    assert "txl-tokens − dtg: " in repr(theirs.compare(ours)) and "<p>" in theirs.compare(ours)._repr_html_()
    same = evaluate(runs / "dtg/best", "blimp", made / "pairs.jsonl", beam=4, against=tmp_path / "ours", progress=False)
    assert "dtg − dtg (ours): " in repr(same)
    assert name_of(Path("runs/x/best")) == "x" and name_of(Path("models/mine")) == "mine"
    with pytest.raises(InputError, match="results of blimp and of sg do not compare"):
        ours.compare(evaluate(tiny("dtg"), "sg", made / "suite.json", beam=5, progress=False))


def test_a_model_in_memory_is_told_from_another(made: Path, tmp_path: Path) -> None:
    model = tiny("txl-tokens")
    options: dict[str, Any] = {"out": tmp_path / "out", "progress": False}
    first = evaluate(model, "blimp", made / "pairs.jsonl", **options)
    assert first.given["model"] == "in memory" and first.name == "txl-tokens"
    again = evaluate(model, "blimp", made / "pairs.jsonl", name="mine", **options)  # a name decides no numbers
    assert again.content["scores"] == first.content["scores"] and again.name == "mine"
    with pytest.raises(InputError, match="model_sha256 is"):
        evaluate(tiny("txl-trans"), "blimp", made / "pairs.jsonl", **options)


def test_mistakes(made: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"no task called 'blimps'. Known: ppl, blimp, sg, pairs"):
        evaluate("dtg-mini", "blimps", made)
    with pytest.raises(InputError, match=r"the task blimp has no option beems. Known: paradigms, limit, sample"):
        evaluate("dtg-mini", "blimp", made, beems=3)
    with pytest.raises(InputError, match="the task sg needs data"):
        evaluate("dtg-mini", "sg")
    assert len(evaluate(tiny("txl-tokens"), "blimp", made / "pairs.jsonl", first=2, progress=False).items) == 2


class Count(Progress):
    def __init__(self) -> None:
        self.seen: list[int] = []

    def begins(self, groups: int, processes: Processes) -> None:
        self.seen.append(groups)

    def finished(self, rows: int) -> None:
        self.seen.append(rows)


@dataclass(frozen=True)
class Lengths(Task):
    """A task of one's own: how many subwords words have."""

    name: ClassVar[str] = "lengths"
    table: ClassVar[str] = "words.csv"
    columns: ClassVar[Sequence[Column]] = (Column("word", str, "it"), Column("subwords", int, "how many"))

    words: tuple[str, ...]
    data = "words"
    data_sha256 = "0"

    def items(self) -> list[list[str]]:
        return [list(self.words[:2]), list(self.words[2:])]

    def settings(self) -> dict[str, Any]:
        return {}

    def measure(self, model: LanguageModel, items: Sequence[str]) -> list[dict[str, Any]]:
        assert model.tokenizer is not None
        return [{"word": word, "subwords": len(model.tokenizer.encode(word))} for word in items]

    def summarize(self, rows: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
        return {"mean": sum(row["subwords"] for row in rows) / len(rows), "words": len(rows)}

    @classmethod
    def metrics(cls, content: dict[str, Any]) -> list[Metric]:
        return [Metric("all", "subwords", Interval(content["mean"], 0, 9), content["words"])]

    @classmethod
    def page(cls, name: str, content: dict[str, Any]) -> list[Block]:
        return cls.summary(name, content)

    @classmethod
    def summary(cls, name: str, content: dict[str, Any]) -> list[Block]:
        return [TextBlock([f"{name}: {content['mean']:.1f} subwords per word"])]

    @classmethod
    def compared(cls, content: Any, ours: Any, theirs: Any, names: tuple[str, str]) -> dict[str, Any]:
        return {**content}

    @classmethod
    def comparison(cls, names: tuple[str, str], content: dict[str, Any]) -> list[Block]:
        return []


def test_a_task_of_one_s_own_is_stored_and_resumed(tmp_path: Path) -> None:
    task, count = Lengths(("mice", "dog", "quickly")), Count()
    found = evaluate(tiny("dtg"), task, out=tmp_path, progress=count)
    assert count.seen == [2, 2, 1] and repr(found).startswith("dtg: ")
    assert (tmp_path / "words.csv").read_text().startswith("word,subwords\nmice,")
    again = Count()
    evaluate(tiny("dtg"), task, out=tmp_path, progress=again)
    assert again.seen == [0]
    assert Results.read(tmp_path, Lengths).metrics == found.metrics
