"""Language models on BLiMP and SyntaxGym: numbers of sentences computed together against those of each alone."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dtg.evaluation.blimp import running as blimp
from dtg.evaluation.blimp.pairs import PairSet, read_pairs
from dtg.evaluation.blimp.scored import ScoredPair
from dtg.evaluation.sg import Suite, read_suite, suite_sentences
from dtg.evaluation.sg import running as sg
from dtg.scoring.reranking import sentence_generator
from dtg.text.sentence import Sentence
from tests.evaluation.blimp.making import record, write
from tests.evaluation.sg.made_up import content, write_suite
from tests.parser.parsers import small_parser
from tests.scoring.test_marginal import tiny

SENTENCES = [
    ("The dog saw mice.", "The dog mice saw."),
    ("A cat run?", "A cat that run?"),
    ("The dog ran.", "Mice ran."),
]


@pytest.fixture
def pairs(tmp_path: Path) -> PairSet:
    records = [
        record(number, uid, sentence_good=good, sentence_bad=bad)
        for uid in ("wh_island", "passive_1")
        for number, (good, bad) in enumerate(SENTENCES)
    ]
    return read_pairs(write(tmp_path / "pairs.jsonl", *records))


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return read_suite(write_suite(tmp_path / "suite.json", content(metric="mean")))


def test_every_pair_is_in_one_group_with_its_like(pairs: PairSet) -> None:
    groups = blimp.groups_of(pairs, size=2)
    assert [[(pair.uid, pair.pair_id) for pair in group] for group in groups] == [
        [("passive_1", "1"), ("passive_1", "2")],
        [("passive_1", "0")],
        [("wh_island", "1"), ("wh_island", "2")],
        [("wh_island", "0")],
    ]


@pytest.mark.parametrize("family", ["dtg", "dtg-swift", "txl-trans"])
def test_pairs_by_beam_are_what_each_sentence_is_alone(family: str, pairs: PairSet) -> None:
    model = tiny(family)
    scored = all_scored(pairs, blimp.by_beam(model, 6, 3))
    for one, (good, bad) in zip(scored, 2 * SENTENCES, strict=True):
        for text, found, words in ((good, one.good, one.good_words), (bad, one.bad, one.bad_words)):
            alone = model.surprisal([text], beam=6, word_beam=3)[0]
            assert found == pytest.approx(-alone.surprisals.sum() - alone.end_surprisal, abs=1e-9)
            assert found == pytest.approx(model.marginal(text, "beam", beam=6, word_beam=3).log_probability, abs=1e-9)
            assert words == len(Sentence.of_text(text))


def test_a_model_without_trees_is_exact(pairs: PairSet) -> None:
    model = tiny("txl-tokens")
    for one in all_scored(pairs, blimp.by_beam(model, 1, 1)):
        assert one.good == pytest.approx(model.marginal(one.pair.good, "exact").log_probability, abs=1e-9)


def test_pairs_by_trees_are_the_sums_of_each_sentence(pairs: PairSet) -> None:
    """Seven trees of 30 and more: what is drawn must be the same."""
    model, parser = tiny("dtg"), small_parser()
    for one in all_scored(pairs, blimp.by_trees(model, parser, 7, seed=3)):
        words = Sentence.of_text(one.pair.bad).words
        alone = model.marginal(words, "proposal", proposal=parser, trees=7, generator=sentence_generator(words, 3))
        assert one.bad == pytest.approx(alone.log_probability, abs=1e-9) and alone.trees == min(7, alone.draws or 0)


def all_scored(pairs: PairSet, log_probabilities: blimp.LogProbabilities) -> list[ScoredPair]:
    rows = [row for group in blimp.groups_of(pairs) for row in blimp.pair_results(group, log_probabilities)]
    scored = blimp.scored_pairs(pairs, rows)
    assert [one.pair for one in scored] == list(pairs.pairs)
    return scored


def test_items_stay_together(suite: Suite) -> None:
    groups = sg.groups_of([suite, suite], size=1)
    assert [[sentence.key.item for sentence in group] for group in groups] == [[1, 1], [2, 2]] * 2
    assert [len(group) for group in sg.groups_of([suite])] == [4]


@pytest.mark.parametrize("family", ["dtg", "txl-tokens"])
def test_words_of_suites_are_what_each_sentence_has_alone(family: str, suite: Suite) -> None:
    model = tiny(family)
    rows = [row for group in sg.groups_of([suite]) for row in sg.sentence_results(model, group, 6, 3)]
    found = list(sg.surprised_sentences([suite], reversed(rows)))
    assert [one.sentence for one in found] == list(suite_sentences([suite]))
    for one in found:
        alone = model.surprisal([one.sentence.split().words], beam=6, word_beam=3)[0]
        assert one.surprisals == pytest.approx(tuple(alone.surprisals / math.log(2)), abs=1e-9)
    first = found[0].surprisals  # The dog 's | | tail is | n't long .
    regions = sg.by_region([suite], found)[found[0].sentence.key]
    assert regions == pytest.approx((sum(first[:3]) / 3, 0.0, sum(first[3:5]) / 2, sum(first[5:]) / 3))
