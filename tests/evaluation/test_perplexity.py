"""Perplexities computed by hand, and log-probabilities of sentences against sums over every tree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from dtg.errors import InputError
from dtg.evaluation.probability import By, Probability
from dtg.evaluation.rendering import as_markdown
from dtg.evaluation.tasks.perplexity import Perplexity, measure
from dtg.evaluation.tasks.perplexity_scores import CONVENTIONS, perplexity_table, summarize
from dtg.evaluation.tasks.perplexity_sentences import MeasuredSentence as GivenSentence
from dtg.evaluation.tasks.perplexity_sentences import ticket
from dtg.evaluation.tasks.selection import choose as choose_items
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel
from dtg.named_proposal import NamedProposal
from dtg.scoring import tree_scores
from dtg.scoring.proposal import Draws
from dtg.scoring.reranking import sentence_generator
from dtg.search.options import BeamOptions
from dtg.trees import DependencyTree
from dtg.trees.enumeration import enumerate_projective
from tests.scoring.test_marginal import SENTENCE, Tempered, tiny

ROWS = [
    {"words": 3, "pieces": 4, "log_beam": -6.0, "log_beam_beginning": -5.0},
    {"words": 5, "pieces": 8, "log_beam": -12.0, "log_beam_beginning": -11.0},
]
BEAM = BeamOptions(beam=50, word_beam=50)  # holds everything that is searched here
TREES = [
    DependencyTree(SENTENCE[:3], (2, 0, 2)),
    DependencyTree(("mice",), (0,)),
    DependencyTree(("a", "cat"), (2, 0)),
]
GIVEN = [GivenSentence(number, tree.words, f"s{number}", tree) for number, tree in enumerate(TREES, start=1)]


def test_every_convention_by_hand() -> None:
    found = summarize(ROWS, "beam")
    assert {name: found[name]["value"] for name in CONVENTIONS} == pytest.approx(
        {
            "per_word": math.exp(18 / 8),
            "per_word_and_end": math.exp(18 / 10),
            "per_word_without_end": math.exp(16 / 8),
            "per_piece": math.exp(18 / 12),
            "per_piece_and_end": math.exp(18 / 14),
            "per_piece_without_end": math.exp(16 / 12),
        }
    )
    assert found["bits_per_word"]["value"] == pytest.approx(18 / 8 / math.log(2))
    counts = ("kind", "sentences", "words", "pieces", "sentences_without")
    assert [found[count] for count in counts] == ["lower bound", 2, 8, 12, 0]
    assert found["log_probability"] == -18.0
    # Of two sentences, a quarter of the resamples has the first twice and a quarter the second.
    per_word, bits = found["per_word"], found["bits_per_word"]
    assert (per_word["low"], per_word["high"]) == pytest.approx((math.exp(6 / 3), math.exp(12 / 5)))
    assert (bits["low"], bits["high"]) == pytest.approx((2 / math.log(2), 2.4 / math.log(2)))


def test_what_does_not_apply_is_left_out() -> None:
    rows: list[dict[str, Any]] = [
        {"words": 2, "pieces": 2, "log_joint": -4.0}, {"words": 1, "pieces": 1, "log_joint": None}
    ]  # fmt: skip
    found = summarize(rows, "joint")
    assert set(found) & set(CONVENTIONS) == {"per_word", "per_word_and_end", "per_piece", "per_piece_and_end"}
    assert (found["sentences"], found["words"], found["sentences_without"]) == (1, 2, 1)
    assert found["per_word"]["value"] == pytest.approx(math.exp(2))
    assert not {"trees", "standard_error", "effective_sample_size", "per_word_without_end"} & set(found)
    with pytest.raises(InputError, match="no sentence of 1 has a probability by 'joint'"):
        summarize(rows[1:], "joint")


def estimated(log_p: float | None, error: float | None, size: float | None, trees: int = 10) -> dict[str, Any]:
    return {
        "words": 2, "pieces": 2, "log_estimate": log_p, "estimate_error": error, "effective_sample_size": size,
        "proposal_trees": trees,
    }  # fmt: skip


def test_how_far_an_estimate_can_be_trusted() -> None:
    rows = [
        {**estimated(-4.0, 0.3, 5.0, trees=40), "log_proposal": -4.1, "log_beam": -3.9},  # too low
        {**estimated(-4.0, 0.4, 6.0), "log_proposal": -4.1, "log_beam": None},
        {**estimated(-4.0, 0.0, None), "log_beam": -4.0 + 1e-9},  # exact
        estimated(None, None, None),
    ]
    found = summarize(rows, "estimate")
    assert (found["exact_sentences"], found["below_bound"]) == (1, 1)
    assert found["standard_error"] == pytest.approx(0.5)
    assert (found["effective_sample_size"], found["trees"], found["sentences_without"]) == (5.5, 20.0, 1)
    unknown = summarize([*rows, estimated(-4.0, None, 1.0)], "estimate")  # from one draw
    assert unknown["standard_error"] is None


def every_tree(words: Sequence[str], *_: Any) -> Draws:
    trees = tuple(DependencyTree(tuple(words), heads) for heads in enumerate_projective(len(words)))
    return Draws(trees, (-math.log(len(trees)),) * len(trees), "without replacement")


EVERY_TREE: Any = SimpleNamespace(propose=every_tree)


def measured(model: LanguageModel, *by: By, proposal: Any = EVERY_TREE, **options: Any) -> list[dict[str, Any]]:
    return measure(model, GIVEN, Probability(by, BEAM, NamedProposal(proposal, "made up", ""), **options))


def test_with_all_trees_everything_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """joint < proposal = estimate = beam = the sum over all trees, each of which is scored once."""
    model, scored = tiny("dtg"), list[int]()
    score = tree_scores.score_trees

    def counted(model: DecoderModel, trees: Sequence[DependencyTree], *more: Any) -> list[float]:
        scored.append(len(trees))
        return score(model, trees, *more)

    monkeypatch.setattr(tree_scores, "score_trees", counted)
    rows = measured(model, "joint", "proposal", "estimate", "beam")
    assert scored == [3, 7, 1, 2]
    for row, tree, joint in zip(rows, TREES, model.score(TREES), strict=True):
        exact = model.marginal(tree.words, "exact").log_probability
        assert row["log_joint"] == pytest.approx(joint, abs=1e-9)
        assert [row["log_proposal"], row["log_estimate"], row["log_beam"]] == pytest.approx([exact] * 3, abs=1e-9)
        assert (row["log_joint"] < exact - 1e-6) == (len(tree) > 1)
        assert row["log_beam"] < row["log_beam_beginning"]  # the sentence might have gone on
        assert (row["estimate_error"], row["effective_sample_size"]) == (0.0, None)
        assert (row["words"], row["text"]) == (len(tree), " ".join(tree.words))
        assert row["pieces"] >= row["words"]
    assert [row["proposal_trees"] for row in rows] == [7, 1, 2]
    assert set(rows[0]) == {column.name for column in Perplexity.columns if "exact" not in column.name}


def test_some_trees_give_a_bound_and_an_estimate() -> None:
    model = tiny("dtg")
    proposal = Tempered(model, 0.5, "without replacement")
    row = measured(model, "proposal", "estimate", proposal=proposal, trees=4, seed=3)[0]
    words = GIVEN[0].words
    options: dict[str, Any] = {"proposal": proposal, "trees": 4}
    expected = model.marginal(words, "estimate", **options, generator=sentence_generator(words, 3))
    assert (row["log_estimate"], row["log_proposal"]) == (expected.log_probability, expected.lower_bound)
    assert (row["estimate_error"], row["effective_sample_size"], row["proposal_trees"]) == (
        expected.standard_error, expected.effective_sample_size, 4
    )  # fmt: skip
    assert "log_joint" not in row and "log_beam" not in row
    given: Any = SimpleNamespace(propose=lambda words, *_: Draws(every_tree(words).trees[:2]))
    row = measured(model, "proposal", "estimate", proposal=given)[0]
    assert row["log_estimate"] is None and row["log_proposal"] < expected.log_probability + 1


def test_a_model_without_trees_is_exact() -> None:
    model = tiny("txl-tokens")
    rows = measured(model, "exact")
    for row, score, found in zip(rows, model.score(TREES), model.surprisal([one.words for one in GIVEN]), strict=True):
        assert row["log_exact"] == pytest.approx(score, abs=1e-9)
        assert row["log_exact_beginning"] == pytest.approx(-float(found.surprisals.sum()), abs=1e-9)
    assert [name for name in rows[0] if name.startswith(("log_", "proposal"))] == ["log_exact", "log_exact_beginning"]


def test_a_tree_out_of_reach_has_no_logarithm() -> None:
    far = DependencyTree(("a", "cat", "saw", "mice"), (4, 1, 1, 0))  # from mice over saw and cat to a
    rows = measure(
        tiny("dtg-swift", distance_limit=1), [GivenSentence(1, far.words, "far", far)], Probability(("joint",), BEAM)
    )
    assert rows[0]["log_joint"] is None


def page(rows: list[dict[str, Any]], *by: By) -> tuple[dict[str, Any], list[list[str]], list[str]]:
    """The numbers, the table and the lines below it."""
    how = Probability(by, BEAM, left_out={"proposal": "no trees"})
    task = Perplexity("some/dev.conllu", tuple(GIVEN), how)
    content = task.summarize(rows, "mine")
    table = perplexity_table(content["perplexities"], counts=True)
    assert "search: beam 50, word beam 50." in content["notes"] or "beam" not in by
    return content, [list(table.header), *map(list, table.rows)], content["notes"]


def test_the_table() -> None:
    rows: list[dict[str, Any]] = [{**row, "log_joint": row["log_beam"] - 1, "lifted_arcs": 2} for row in ROWS]
    rows[0]["log_joint"] = None
    content, (titles, *cells), lines = page(rows, "joint", "beam")
    assert titles[:5] == ["", "", "per word", "+ <END>", "no <END>"]
    assert cells[0] == [
        "joint", "=", "13.46", "8.73", "", "5.08", "4.24", "", "3.751", "13.46 to 13.46", "1", "5", "8"
    ]  # fmt: skip
    assert cells[1][:5] == ["beam", "≤", "9.49", "6.05", "7.39"]
    assert content["title"] == "Perplexity of mine on dev.conllu: 2 sentences, 8 words, 12 pieces"
    assert [lines[-4], lines[-3], lines[-1]] == [
        "joint: without 1 sentence whose trees have probability 0, which would make it infinite.",
        "lifted 4 crossing arcs in 2 sentences.",
        "left out: proposal (no trees).",
    ]
    assert "| beam | ≤ | 9.49 | 6.05 | 7.39 |" in as_markdown(Perplexity.page("mine", content))
    assert not any("lifted" in line for line in page(rows, "beam")[2])  # no tree was used


def test_only_what_is_there_is_explained() -> None:
    rows: list[dict[str, Any]] = [{"words": 2, "pieces": 2, "log_joint": -400.0}]
    _, (titles, *_), lines = page(rows, "joint")
    assert titles[:8] == ["", "", "per word", "+ <END>", "per piece", "+ <END>", "bits/word", "95%"]
    assert not any(line.startswith(("no <END>", "beam", "lifted")) for line in lines)


def choose(sentences: Iterable[GivenSentence], seed: int = 0, **amount: Any) -> list[GivenSentence]:
    return choose_items(sentences, lambda one: ticket(one, seed), **amount)


def test_choosing_sentences() -> None:
    every = [GivenSentence(number, ("w", str(number % 7))) for number in range(1, 101)]
    assert choose(iter(every)) == every
    assert choose(every, limit=3) == every[:3]
    some = choose(every, sample=20, seed=1)
    assert len(some) == 20 and some == sorted(some, key=lambda one: one.sentence_id)
    assert set(choose(every, sample=5, seed=1)) < set(some)
    assert set(choose(every, sample=20, seed=2)) != set(some)
    assert choose(every, sample=100) == every
    with pytest.raises(InputError, match="a sample of 101 sentences is asked for, but there are 100"):
        choose(every, sample=101)
    with pytest.raises(InputError, match="give one of them"):
        choose(every, sample=1, limit=1)
