"""A family is one entry in a table: what is registered here, under names that nothing else knows, is treated rightly.

The new families read what known ones read under another name (arc-hybrid's derivations are those of arc-standard), so that
their numbers are known: those of the same weights in the known family.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from typer.testing import CliRunner

import dtg
from dtg.cli.app import app
from dtg.errors import DtgError, InputError
from dtg.families import FAMILIES, FamilyEntry
from dtg.families.linear import LinearFamily
from dtg.families.stack import StackFamily
from dtg.language_model import LanguageModel
from dtg.scoring import surprisals
from dtg.scoring.marginals import How
from dtg.transitions.arcs.arc_hybrid import ArcHybrid
from dtg.transitions.words import Words
from dtg.trees import DependencyTree
from tests.scoring.test_marginal import SENTENCE, log_sum, scores, tiny
from tests.twins import every_projective_tree

WORDS_ALONE = {"plain": FamilyEntry(LinearFamily, Words), "piled": FamilyEntry(StackFamily, Words)}
TREES = [DependencyTree(SENTENCE[:4], heads) for heads in every_projective_tree(4)]


def registered(monkeypatch: pytest.MonkeyPatch, name: str, entry: FamilyEntry, **settings: Any) -> LanguageModel:
    """A model of a family that is known from here to the end of the test."""
    monkeypatch.setitem(FAMILIES, name, entry)
    return tiny.__wrapped__(name, **settings)


@pytest.fixture(params=WORDS_ALONE)
def words_alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> LanguageModel:
    """A second family without trees, by either rule."""
    return registered(monkeypatch, request.param, WORDS_ALONE[request.param])


@pytest.fixture
def hybrid(monkeypatch: pytest.MonkeyPatch) -> LanguageModel:
    """A sixth family, which masks by a stack."""
    return registered(monkeypatch, "hybrid", FamilyEntry(StackFamily, ArcHybrid))


def run(*arguments: str | Path) -> str:
    """What a command prints; an error of ours is raised."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def surprisals_word_by_word(model: LanguageModel, words: Sequence[str]) -> list[float]:
    state = model.begin(beam=300, word_beam=300)
    found = []
    for word in words:
        state = state.step(word)
        found.append(state.surprisal)
    return [*found, state.end().surprisal]


# Without trees


def test_words_alone_are_read_in_one_pass(words_alone: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surprisals, "search_all", nothing_is_searched)
    for words, found in zip((SENTENCE, SENTENCE[2:]), words_alone.surprisal([SENTENCE, SENTENCE[2:]]), strict=True):
        assert [*found.surprisals, found.end_surprisal] == pytest.approx(
            surprisals_word_by_word(words_alone, words), rel=1e-11
        )
        assert np.array_equal(found.lexical, found.surprisals)
        assert not found.structural.any() and not found.entropies.any() and not found.stack_depths.any()
        assert (found.kept == 1).all()


def nothing_is_searched(search: object, sentences: Sequence[object], ends: bool) -> Iterator[object]:
    assert not sentences
    return iter(())


@pytest.mark.parametrize("how", get_args(How))
def test_words_alone_have_an_exact_marginal(words_alone: LanguageModel, how: Any) -> None:
    found = words_alone.marginal(SENTENCE, how)
    assert found.log_probability == pytest.approx(-sum(surprisals_word_by_word(words_alone, SENTENCE)), rel=1e-11)
    assert (found.kind, found.trees, found.lower_bound) == ("exact", 0, found.log_probability)
    assert found.how == f"one pass, {words_alone.family.name} has no trees"


def test_words_alone_are_generated_and_have_no_trees(words_alone: LanguageModel) -> None:
    some = words_alone.generate(5, max_words=4, seed=1)
    assert len(some) == 5 and all(sentence.tree is None for sentence in some)
    name = words_alone.family.name
    assert not words_alone.has_trees
    with pytest.raises(InputError, match=f"{name} is a model of words without trees"):
        words_alone.rerank(SENTENCE[:4], TREES)
    with pytest.raises(InputError, match=f"{name} generates words without a tree"):
        words_alone.parse(SENTENCE)


def test_the_same_rule_and_system_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    for head in ("factored", "joint"):
        model = registered(monkeypatch, "plain", WORDS_ALONE["plain"], head=head)
        (found,), (expected,) = (one.surprisal([SENTENCE]) for one in (model, tiny("txl-tokens", head=head)))
        assert found.surprisals.tolist() == expected.surprisals.tolist()
        assert found.log_probability == expected.log_probability


def test_commands_with_words_alone(words_alone: LanguageModel, tmp_path: Path) -> None:
    words_alone.save(tmp_path / "model")
    name = words_alone.family.name
    assert json.loads(run("info", tmp_path / "model", "--json"))["settings"]["family"] == name
    text = " ".join(SENTENCE)
    shown = run("surprisal", text, "--tokenized", "--model", tmp_path / "model")
    assert "exact" in shown and "lower bound" not in shown
    items = tmp_path / "items.csv"
    run("surprisal", text, "--tokenized", "--end", "--base", "e", "--model", tmp_path / "model", "--out", items)
    rows = [line.split(",") for line in items.read_text().splitlines()]
    column = rows[0].index("surprisal")
    expected = dtg.load(tmp_path / "model").surprisal([SENTENCE])[0]
    found = [float(row[column]) for row in rows[1:]]
    assert found == pytest.approx([*expected.surprisals, expected.end_surprisal], rel=1e-6)
    assert json.loads((tmp_path / "items.csv.meta.json").read_text())["settings"]["family"] == name
    assert run("generate", "--model", tmp_path / "model", "-n", "2").count("\n") >= 2
    with pytest.raises(DtgError, match=f"{name} is a model of words without trees"):
        run("rerank", text, "--tokenized", "--model", tmp_path / "model")


# With trees


def test_a_stack_family_has_the_numbers_of_its_twin(hybrid: LanguageModel) -> None:
    """Its rows are those of dtg, and so is what is legal."""
    twin = tiny("dtg")
    assert hybrid.has_trees
    assert hybrid.score(TREES) == pytest.approx(twin.score(TREES), rel=1e-12)
    for found, expected in zip(hybrid.surprisal([SENTENCE], beam=20), twin.surprisal([SENTENCE], beam=20), strict=True):
        for column in ("surprisals", "lexical", "structural", "entropies", "stack_depths", "kept"):
            np.testing.assert_allclose(getattr(found, column), getattr(expected, column), rtol=1e-10, atol=1e-12)
        assert found.log_probability == pytest.approx(expected.log_probability, rel=1e-12)
    assert hybrid.parse(SENTENCE, beam=50) == twin.parse(SENTENCE, beam=50)


def test_a_stack_family_sums_over_its_trees(hybrid: LanguageModel) -> None:
    known = scores(hybrid, SENTENCE[:4])
    exact = hybrid.marginal(SENTENCE[:4], "exact")
    assert exact.log_probability == pytest.approx(log_sum(list(known.values())), abs=1e-11)
    assert (exact.kind, exact.trees, exact.out_of_reach, exact.distance_limit) == ("exact", 30, 0, None)
    whole = hybrid.marginal(SENTENCE[:4], "beam", beam=1000, word_beam=1000)
    assert whole.log_probability == pytest.approx(exact.log_probability, abs=1e-9)
    assert (whole.kind, whole.trees) == ("lower bound", 30)
    pruned = hybrid.marginal(SENTENCE[:4], "beam", beam=3)
    assert pruned.log_probability < exact.log_probability and pruned.trees < 30
    ranked = hybrid.rerank(SENTENCE[:4], TREES)
    assert ranked.best().tree.key == max(known, key=lambda heads: known[heads]) and len(ranked.trees) == 30


def test_a_stack_family_generates_trees(hybrid: LanguageModel) -> None:
    for sentence in hybrid.generate(10, max_words=6, seed=2):
        assert isinstance(sentence.tree, DependencyTree) and sentence.tree.words == sentence.words
        assert sentence.tree.is_projective


def test_commands_with_a_stack_family(hybrid: LanguageModel, tmp_path: Path) -> None:
    hybrid.save(tmp_path / "model")
    assert 'family = "hybrid"' in run("info", tmp_path / "model")
    text = " ".join(SENTENCE)
    shown = run("surprisal", text, "--tokenized", "--beam", "20", "--model", tmp_path / "model")
    assert "lower bound" in shown and "exact" not in shown
    assert run("rerank", text, "--tokenized", "--trees", "5", "--model", tmp_path / "model").count("\n1\t") == 1


# With two views


def test_commands_with_a_hybrid(tmp_path: Path) -> None:
    model = tiny("dtg-hybrid", memory="rows", memory_layers="upper")
    model.save(tmp_path / "model")
    shown = run("info", tmp_path / "model")
    assert 'family = "dtg-hybrid"' in shown and 'memory = "rows"' in shown and 'memory_layers = "upper"' in shown
    text = " ".join(SENTENCE)
    assert "lower bound" in run("surprisal", text, "--tokenized", "--beam", "20", "--model", tmp_path / "model")
    assert run("rerank", text, "--tokenized", "--trees", "5", "--model", tmp_path / "model").count("\n1\t") == 1
    assert run("generate", "--model", tmp_path / "model", "-n", "2", "--max-words", "5").count("\n") >= 2
    known = scores(model, SENTENCE[:4])
    exact = model.marginal(SENTENCE[:4], "exact")
    assert exact.log_probability == pytest.approx(log_sum(list(known.values())), abs=1e-11)
    assert model.rerank(SENTENCE[:4], TREES).best().tree.key == max(known, key=lambda heads: known[heads])


def test_inspecting_a_hybrid() -> None:
    sentence = ("inspect", "Dogs bark", "--heads", "2 0")
    lines = run(*sentence, "--family", "dtg-hybrid").splitlines()
    place = next(i for i, line in enumerate(lines) if "LEFTARC2" in line)
    assert "stack: 0 3 4" in lines[place] and "memory: 0 1 2 4" in lines[place + 1]
    rows = json.loads(run(*sentence, "--family", "dtg-hybrid", "--memory", "rows", "--json"))["rows"]
    assert rows[4]["views"][1]["attends"] == [0, 1, 2, 3, 4]
    with pytest.raises(InputError, match="are about hybrids"):
        run(*sentence, "--memory", "rows")
