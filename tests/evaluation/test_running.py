"""Language models on BLiMP and SyntaxGym: numbers of sentences computed together against those of each alone."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from dtg.evaluation.probability import Probability
from dtg.evaluation.tasks.pairs import task as pairs_task
from dtg.evaluation.tasks.pairs.blimp import Blimp
from dtg.evaluation.tasks.pairs.scored import ScoredPair
from dtg.evaluation.tasks.syntaxgym import suite_sentences
from dtg.evaluation.tasks.syntaxgym import task as syntaxgym_task
from dtg.evaluation.tasks.syntaxgym.task import SyntaxGym
from dtg.language_model import LanguageModel
from dtg.named_proposal import NamedProposal
from dtg.scoring.reranking import sentence_generator
from dtg.text.sentence import Sentence
from tests.evaluation.pairs.making import record, write
from tests.evaluation.syntaxgym.made_up import content, write_suite
from tests.parser.parsers import small_parser
from tests.scoring.test_marginal import tiny

SENTENCES = [
    ("The dog saw mice.", "The dog mice saw."),
    ("A cat run?", "A cat that run?"),
    ("The dog ran.", "Mice ran."),
]


@pytest.fixture
def pairs(tmp_path: Path) -> Blimp:
    records = [
        record(number, uid, sentence_good=good, sentence_bad=bad)
        for uid in ("wh_island", "passive_1")
        for number, (good, bad) in enumerate(SENTENCES)
    ]
    return Blimp.of(write(tmp_path / "pairs.jsonl", *records), beam=6, word_beam=3)


@pytest.fixture
def suite(tmp_path: Path) -> SyntaxGym:
    return SyntaxGym.of(write_suite(tmp_path / "suite.json", content(metric="mean")), beam=6, word_beam=3)


def test_every_pair_is_in_one_group_with_its_like(pairs: Blimp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_task, "PAIRS_TOGETHER", 2)
    groups = pairs.for_model(tiny("txl-tokens")).items()
    assert [[(pair.uid, pair.pair_id) for pair in group] for group in groups] == [
        [("passive_1", "1"), ("passive_1", "2")],
        [("passive_1", "0")],
        [("wh_island", "1"), ("wh_island", "2")],
        [("wh_island", "0")],
    ]


@pytest.mark.parametrize("family", ["dtg", "dtg-swift", "txl-trans"])
def test_pairs_by_beam_are_what_each_sentence_is_alone(family: str, pairs: Blimp) -> None:
    model = tiny(family)
    for one, (good, bad) in zip(all_scored(pairs, model), 2 * SENTENCES, strict=True):
        for text, found, words in ((good, one.good, one.good_words), (bad, one.bad, one.bad_words)):
            alone = model.surprisal([text], beam=6, word_beam=3)[0]
            assert found == pytest.approx(-alone.surprisals.sum() - alone.end_surprisal, abs=1e-9)
            assert found == pytest.approx(model.marginal(text, "beam", beam=6, word_beam=3).log_probability, abs=1e-9)
            assert words == len(Sentence.of_text(text))


def test_a_model_without_trees_is_exact(pairs: Blimp) -> None:
    model = tiny("txl-tokens")
    for one in all_scored(pairs, model):
        assert one.good == pytest.approx(model.marginal(one.pair.good, "exact").log_probability, abs=1e-9)


def test_pairs_by_trees_are_the_sums_of_each_sentence(pairs: Blimp) -> None:
    """Seven trees of 30 and more: what is drawn must be the same."""
    model, parser = tiny("dtg"), small_parser()
    how = Probability(("proposal",), proposal=NamedProposal.of(parser), trees=7, seed=3)
    for one in all_scored(replace(pairs, how=how), model):
        words = Sentence.of_text(one.pair.bad).words
        alone = model.marginal(words, "proposal", proposal=parser, trees=7, generator=sentence_generator(words, 3))
        assert one.bad == pytest.approx(alone.log_probability, abs=1e-9) and alone.trees == min(7, alone.draws or 0)


def all_scored(pairs: Blimp, model: LanguageModel) -> list[ScoredPair]:
    task = pairs.for_model(model)
    scored = task.scored([row for group in task.items() for row in task.measure(model, group)])
    assert [one.pair for one in scored] == list(pairs.pairs)
    return scored


def test_items_stay_together(suite: SyntaxGym, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = replace(suite.for_model(tiny("txl-tokens")), suites=suite.suites * 2)
    assert [len(group) for group in suite.for_model(tiny("txl-tokens")).items()] == [4]
    monkeypatch.setattr(syntaxgym_task, "ITEMS_TOGETHER", 1)
    assert [[sentence.key.item for sentence in group] for group in exact.items()] == [[1, 1], [2, 2]] * 2


@pytest.mark.parametrize("family", ["dtg", "txl-tokens"])
def test_words_of_suites_are_what_each_sentence_has_alone(family: str, suite: SyntaxGym) -> None:
    model = tiny(family)
    task = suite.for_model(model)
    rows = [row for group in task.items() for row in task.measure(model, group)]
    sentences = list(suite_sentences(suite.suites))
    for one, row in zip(sentences, rows, strict=True):
        alone = model.surprisal([one.split().words], beam=6, word_beam=3)[0]
        assert row["surprisals"] == pytest.approx(list(alone.surprisals / math.log(2)), abs=1e-9)
    first = rows[0]["surprisals"]  # The dog 's | | tail is | n't long .
    regions = task.regions(reversed(rows))[sentences[0].key]
    assert regions == pytest.approx((sum(first[:3]) / 3, 0.0, sum(first[3:5]) / 2, sum(first[5:]) / 3))
