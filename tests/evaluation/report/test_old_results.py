"""Results that version 0.1.0 wrote (of random models, on made-up data) are read as those of today."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dtg.evaluation.report import find, gather, page_of, write_report
from dtg.evaluation.results import Results
from dtg.evaluation.tasks.registry import TASKS

OLD = Path(__file__).parent / "results-0.1"


def test_a_report_of_old_results(tmp_path: Path) -> None:
    gathered = gather(find([OLD]), {})
    assert {model.name: list(model.results) for model in gathered.models} == {
        "dtg": ["blimp", "ppl", "rerank", "sg"],
        "txl-tokens": ["blimp", "ppl", "sg"],
    }
    assert len(gathered.parsers) == 1
    page = page_of(gathered)
    write_report(tmp_path / "report", page)
    text = (tmp_path / "report/report.md").read_text(encoding="utf-8")
    assert "Not compared" not in text and "| dtg | txl-tokens | all pairs |" in text


@pytest.mark.parametrize("path", sorted(OLD.rglob("results.json")), ids=lambda path: "-".join(path.parts[-3:-1]))
def test_metrics_of_old_results(path: Path) -> None:
    written = json.loads(path.read_text(encoding="utf-8"))
    found = Results.read(path.parent, TASKS[written["kind"]])
    assert found.name == written["given"]["name"] and found.metrics
    assert all(one.n > 0 and one.name for one in found.metrics)
    assert found.page().startswith("# ") and found.summary() == f"{found!r}\n"
    assert found._repr_html_().count("<table>") >= 1
    same = found.compare(found)
    assert "dtg" in repr(same) or "txl-tokens" in repr(same)
    if written["kind"] in ("blimp", "sg"):
        (test, *_) = found.task.tests(same.content, found.task.rule_of(same.content)).values()  # type: ignore[attr-defined]
        assert test["difference"] == 0 and test["p"] == 1
