"""Which results belong to whom: names, runs, things that are there twice, unfinished or not ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dtg.errors import InputError
from dtg.evaluation.report.gathering import find, gather
from dtg.evaluation.report.overview import word_kinds
from dtg.evaluation.report.page import letters, marks, parts_of
from tests.evaluation.report.made_up import write_blimp, write_parser, write_ppl, write_reranking, write_run, write_sg


def test_models_come_in_the_order_given_and_paths_may_overlap(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_sg(tmp_path / name / "deep/er", name, 1)
    (tmp_path / "a/again").symlink_to(tmp_path)  # is not followed round and round
    for paths, names in ((("b", "a"), ["b", "a"]), (("b", "."), ["b", "a"]), ((".", "b"), ["a", "b"])):
        found = gather(find([tmp_path / path for path in paths]), {})
        assert [model.name for model in found.models] == names
        assert found.models[0].results["sg"].given["name"] == names[0]


def test_two_results_of_a_kind_are_refused_and_two_models_of_one_name_told_apart(tmp_path: Path) -> None:
    write_sg(tmp_path / "one", "dtg", 1)
    write_sg(tmp_path / "two", "dtg", 2)
    with pytest.raises(
        InputError, match=r"two results of dtg evaluate sg of dtg: .*one and .*two\.\nGive one of them another name"
    ):
        gather(find([tmp_path]), {})
    write_ppl(tmp_path / "three", "dtg", 4.0, model_sha256="f" * 64)
    write_sg(tmp_path / "four/sg", "dtg", 2, model_sha256="f" * 64)
    found = gather(find([tmp_path / name for name in ("two", "three", "four")]), {})  # two models of one name
    assert {model.name: list(model.results) for model in found.models} == {"dtg": ["sg"], "dtg (three)": ["ppl", "sg"]}


def test_reranking_belongs_to_the_model_that_did_it(tmp_path: Path) -> None:
    write_sg(tmp_path / "a/sg", "dtg", 1)
    numbers = write_reranking(tmp_path / "a/rerank", "dtg", 1)
    write_reranking(tmp_path / "b", "other", 2)
    first, second = gather(find([tmp_path / "a", tmp_path / "b"]), {}).models
    assert (first.name, first.results["rerank"].content) == ("dtg", numbers)
    assert (second.name, list(second.results), second.family) == ("other", ["rerank"], "dtg")
    write_reranking(tmp_path / "c", "dtg", 3)
    with pytest.raises(
        InputError, match=r"two results of dtg evaluate rerank of dtg: .*\nGive one of them another name"
    ):
        gather(find([tmp_path]), {})
    write_reranking(tmp_path / "d", "dtg", 1, model_sha256="f" * 64)
    apart = gather(find([tmp_path / "a/sg", tmp_path / "d"]), {})
    assert [model.name for model in apart.models] == ["dtg", "dtg (d)"]


def test_runs_go_with_their_models(tmp_path: Path) -> None:
    write_sg(tmp_path / "dtg/sg", "small", 1)
    write_run(tmp_path / "dtg", 60)
    write_run(tmp_path / "txl", 60, "txl-tokens")
    write_run(tmp_path / "parser", 60)
    log = tmp_path / "parser/log.jsonl"
    log.write_text(log.read_text().replace('"family"', '"encoder"'))
    first = gather(find([tmp_path / "dtg"]), {})
    assert [(model.name, model.run is not None) for model in first.models] == [("small", True)]
    every = gather(find([tmp_path / name for name in ("dtg", "txl", "parser")]), {"other": tmp_path / "txl"})
    assert [(model.name, model.family) for model in every.models] == [("small", "dtg"), ("other", "txl-tokens")]
    assert every.notes == (
        f"{tmp_path / 'parser'} is left out: it is the training of a parser, not of a language model.",
    )
    with pytest.raises(InputError, match=r"is of txl-tokens, but the results called small are of dtg"):
        gather(find([tmp_path / "dtg/sg"]), {"small": tmp_path / "txl"})
    with pytest.raises(InputError, match="is not a run of dtg train"):
        gather(find([]), {"small": tmp_path / "dtg/sg"})
    with pytest.raises(InputError, match=r"two training runs for small: .*txl and .*dtg"):
        gather(find([tmp_path / "dtg"]), {"small": tmp_path / "txl"})


def test_what_cannot_be_used_is_told(tmp_path: Path) -> None:
    write_sg(tmp_path / "good", "dtg", 1)
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun/settings.json").write_text(json.dumps({"command": "evaluate blimp"}))
    (tmp_path / "broken.json").write_text('{"kind": ')
    (tmp_path / "printed.json").write_text('{"kind": "rerank", "settings": {}}')
    (tmp_path / "other.json").write_text('{"anything": 1}')
    begun, broken, printed = find([tmp_path]).notes
    assert begun == f"{tmp_path / 'begun'} is not finished, and left out. The same command resumes it."
    assert broken.startswith(f"{tmp_path / 'broken.json'} is left out: it is not JSON")
    assert printed.startswith(
        f"{tmp_path / 'printed.json'} is left out: of dtg evaluate rerank, the folder that it writes"
    )
    (tmp_path / "empty").mkdir()
    for path, message in (
        (tmp_path / "empty", "there are no results in"),
        (tmp_path / "other.json", "there are no results in"),
        (tmp_path / "nowhere", "there is no such file or folder"),
    ):
        with pytest.raises(InputError, match=message):
            find([path])
    (tmp_path / "good/results.json").write_text('{"kind": "la')
    with pytest.raises(InputError, match=r"cannot read .*results\.json"):
        find([tmp_path / "good"])
    (tmp_path / "good/results.json").write_text('{"kind": "taste", "format_version": 1}')
    with pytest.raises(
        InputError, match="results of the kind 'taste'; known are ppl, blimp, sg, pairs, rerank, parser"
    ):
        find([tmp_path / "good"])
    write_parser(tmp_path / "parser.json")
    old = json.loads((tmp_path / "parser.json").read_text()) | {"format_version": 0}
    (tmp_path / "parser.json").write_text(json.dumps(old))
    with pytest.raises(InputError, match="format_version 0; this dtg reads 1"):
        find([tmp_path / "parser.json"])


def test_the_perplexity_that_stands_for_a_model(tmp_path: Path) -> None:
    """Where all models with trees have one kind in common, it is that; otherwise each one's first."""
    write_ppl(tmp_path / "a", "a", 4.0, by=("joint", "proposal", "beam"))
    write_ppl(tmp_path / "b", "b", 4.0, by=("joint", "beam"))
    write_ppl(tmp_path / "c", "c", 4.0, "txl-tokens", ("exact",))
    write_blimp(tmp_path / "d", "d", 1)
    write_ppl(tmp_path / "e", "e", 4.0, by=("estimate",))
    write_ppl(tmp_path / "f", "f", 4.0, by=("joint",))

    def kinds(names: str) -> list[str | None]:
        return word_kinds(gather(find([tmp_path / name for name in names]), {}).models)

    assert kinds("abcd") == ["beam", "beam", "exact", None]
    assert kinds("ac") == ["proposal", "exact"]
    assert kinds("ae") == ["proposal", "estimate"]
    assert kinds("af") == ["proposal", None]


def test_letters_and_parts() -> None:
    assert letters(["x", "y", "x"]) == {"x": "a", "y": "b"}
    assert marks(["y", "x"], {"x": "a", "y": "b"}) == " (a, b)" and marks([], {}) == ""
    assert list(letters(map(str, range(28))).values())[-3:] == ["z", "aa", "ab"]
    assert [(name, suffix, len(some)) for name, suffix, some in parts_of("bars", list("abcdefghij"))] == [
        ("bars", " Part 1 of 2.", 8),
        ("bars-2", " Part 2 of 2.", 2),
    ]
    assert list(parts_of("bars", ["a"])) == [("bars", "", ["a"])]


def test_damaged_results_are_named(tmp_path: Path) -> None:
    whole = write_sg(tmp_path / "sg", "dtg", 1)
    damages: list[dict[str, Any]] = [
        {"scores": {}},
        {"scores": None},
        {"settings": {}},
        {"settings": 3},
        {"given": {"name": 3}},
    ]
    for damage in damages:
        (tmp_path / "sg/results.json").write_text(json.dumps({**whole, **damage}))
        with pytest.raises(InputError, match="damaged"):
            gather(find([tmp_path]), {})
