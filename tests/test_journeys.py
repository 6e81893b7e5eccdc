"""The six journeys of docs/journeys.md: what the page shows is run, in order."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_language import write_french
from tests.documents import ROOT, run, script_of
from tests.real_data import data_file

PAGE = ROOT / "docs" / "journeys.md"
PUBLISHED = "## 5."


def split_page() -> tuple[str, str]:
    """The page without the journey that needs published data, and that journey."""
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")
    assert len(sections) == 7
    own = [section for section in sections if not f"## {section}".startswith(PUBLISHED)]
    (published,) = (section for section in sections if f"## {section}".startswith(PUBLISHED))
    return "\n## ".join(own), published


def test_journeys_with_data_of_ones_own(tmp_path: Path) -> None:
    write_french(tmp_path / "fr_gsd-ud-train.conllu")
    write_french(tmp_path / "fr_gsd-ud-dev.conllu")
    script = tmp_path / "journeys.py"
    script.write_text(script_of(split_page()[0]), encoding="utf-8")
    printed = run(script)
    for expected in ("ambiguous", "fr <SentenceSurprisal", "with a comma: ", "least certain: ", "agreement"):
        assert expected in printed
    made = {"words.csv", "words.csv.meta.json", "fr-run", "parsed.conllu", "results"}
    assert made <= {path.name for path in tmp_path.iterdir()}
    assert "Confidence=" in (tmp_path / "parsed.conllu").read_text(encoding="utf-8")


def test_a_published_number(tmp_path: Path) -> None:
    data_file("sg/number_prep.json")
    script = tmp_path / "published.py"
    script.write_text("import dtg\n" + script_of(split_page()[1]), encoding="utf-8")
    assert "1.8 [" in (printed := run(script)) and "57 items" in printed


def test_the_journey_that_needs_data_says_so() -> None:
    assert "DTG_DATA" in split_page()[1] and "DTG_DATA" not in split_page()[0]
