"""Columns that are asked for: against the partial trees of every hypothesis, written down and looked at one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from dtg.analysis.recording import RecordingKeys
from dtg.errors import UnknownNameError
from dtg.families import pack
from dtg.language_model import LanguageModel
from dtg.model.packed_keys import PackedKeys
from dtg.scoring.surprisals import search_sentences
from dtg.search.backpointers import actions_of, replay
from dtg.search.beam_search import BeamSearch
from dtg.search.measures.content_words import is_content_word
from dtg.search.options import BeamOptions
from dtg.search.prefix_trie import search_all
from dtg.search.state import BeamState
from dtg.transitions import Operation
from dtg.transitions.batch import SentenceBatch
from tests.dependency import DEPENDENCY_FAMILIES
from tests.phrase_twins import PHRASE_FAMILIES
from tests.search.test_beam_search import states
from tests.search.test_boundaries import tiny

WITH_ARCS = [family for family in DEPENDENCY_FAMILIES if family != "txl-tokens"]
PIECES = [[6], [2, 9], [3], [4], [5]]
LIMITS: dict[str, Any] = {"beam": 24, "word_beam": 12}


class Words:
    """A tokenizer that knows what words its subwords spell."""

    def __init__(self, spelt: Sequence[str]) -> None:
        self.spelt = spelt

    def decode(self, ids: Sequence[int]) -> str:
        return self.spelt[ids[0]]


SPELT = ["", "the", "dog", "that", "we", "see", "barks", "."]


def before_and_after(state: BeamState, hypothesis: int, words: int) -> tuple[Any, Any]:
    """A hypothesis's single-sentence state just after the word before the last, and just before the last word."""
    system, subwords = state.search.evaluator.system, state.subwords
    actions = actions_of(state._beams.backpointers, hypothesis)
    earlier = replay(system, actions[: words - 1], state.words[: words - 1], subwords=subwords[: words - 1])
    counted = replay(system, actions[: words - 1], state.words[: words - 1], actions[words - 1], subwords[: words - 1])
    return earlier, counted


@pytest.mark.parametrize("family", WITH_ARCS)
def test_arcs_against_the_heads_of_every_hypothesis(family: str) -> None:
    model = tiny(family, seed=1)
    model.tokenizer = Words(SPELT)  # type: ignore[assignment]
    content = np.cumsum([0, *(is_content_word(SPELT[word[0]]) for word in PIECES)])
    found = states(model, PIECES, columns=["reductions", "dependency_length", "integration_cost"], **LIMITS)
    seen = 0
    for number, state in enumerate(found[1:], start=1):
        scores = state._beams.score
        posterior = (scores - scores.logsumexp(0)).exp().tolist()
        expected = np.zeros(3)
        for hypothesis, probability in enumerate(posterior):
            earlier, now = before_and_after(state, hypothesis, number)
            heads = [*earlier.heads, *[None] * (len(now.heads) - len(earlier.heads))]
            arcs = [
                (word, head)
                for word, (old, head) in enumerate(zip(heads, now.heads, strict=True), start=1)
                if old is None and head is not None
            ]
            lengths = [abs(word - head) for word, head in arcs]
            costs = [abs(int(content[word] - content[head])) for word, head in arcs]
            expected += probability * np.array([len(arcs), sum(lengths), sum(costs)])
            seen += len(arcs)
        assert list(state.measures.values()) == pytest.approx(expected.tolist(), abs=1e-12)
    assert seen > 20


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_reductions_of_phrases(family: str) -> None:
    model = tiny(family, seed=1)
    found = states(model, PIECES[:4], columns=["reductions", "dependency_length"], **LIMITS)
    some = 0.0
    for number, state in enumerate(found[1:], start=1):
        scores = state._beams.score
        posterior = (scores - scores.logsumexp(0)).exp().tolist()
        system, expected = state.search.evaluator.system, 0.0
        for hypothesis, probability in enumerate(posterior):
            if family == "pushdown":
                earlier, now = before_and_after(state, hypothesis, number)
                expected += probability * (len(now.spans) - len(earlier.spans))
            else:
                taken = actions_of(state._beams.backpointers, hypothesis)[number - 1]
                expected += probability * sum(system.table.actions[one].operation == Operation.REDUCE for one in taken)
        assert state.measures["reductions"] == pytest.approx(expected, abs=1e-12)
        assert math.isnan(state.measures["dependency_length"])
        some += expected
    assert some > 0.01


@pytest.mark.parametrize("boundary", ["next", "own"])
def test_best_and_second_best(boundary: str) -> None:
    found = states(tiny("dtg"), PIECES, columns=["best_parse", "runner_up"], boundary=boundary, **LIMITS)
    assert found[1].measures == {"best_parse": pytest.approx(1.0), "runner_up": 0.0}
    for state in found[2:]:
        best, second = state.measures.values()
        assert 1.0 + 1e-12 >= best >= second >= 0.0
        if boundary == "next":
            assert [best, second] == pytest.approx([*(tree.probability for tree in state.trees(2)), 0.0][:2])
    assert second > 0.0


@pytest.mark.parametrize("family", ["txl-tokens", "dtg"])
def test_attention_entropy_against_recorded_weights(family: str) -> None:
    """A narrow beam has one hypothesis: its derivation as a batch, whose attention weights are recorded densely."""
    model = tiny(family, seed=2)
    found = states(model, PIECES[:3], columns=["attention_entropy"], beam=1, word_beam=1)
    if family == "txl-tokens":
        batch = SentenceBatch.of_words([PIECES[:3]], model.device)
    else:  # a batch of the tree that the hypothesis ends with, whose rows begin like the hypothesis's
        (tree,) = found[-1].end().trees(1)
        batch = model.encode([tree.tree], [PIECES[:3]])
    actions = model.family.system.derive(batch)
    packed = pack(model.family, actions, model.root)
    keys = RecordingKeys(PackedKeys.of(packed, model.groups))
    with torch.no_grad():
        model.decoder(*model.symbols.read_rows(packed), keys)
    weights = keys.weights[-1]  # (heads, rows, rows)
    reads = packed.piece.tolist()
    for word, state in zip(PIECES[:3], found[1:], strict=True):
        row = reads.index(word[-1])
        of_row = weights[:, row]
        count = int((of_row > 0).sum(1).max())
        entropy = torch.special.entr(of_row).sum(1).mean() / math.log(count)
        assert state.measures["attention_entropy"] == pytest.approx(float(entropy), rel=1e-9)
        assert 0.0 < state.measures["attention_entropy"] <= 1.0


def test_one_column_of_attention_for_each_view() -> None:
    state = states(tiny("plm-mask"), PIECES[:2], columns=["attention_entropy", "reductions"], **LIMITS)[-1]
    names = ["reductions", "attention_entropy_before", "attention_entropy_phrase", "attention_entropy_all"]
    assert list(state.measures) == names
    assert all(0.0 <= state.measures[name] <= 1.0 for name in names[1:])


@pytest.mark.parametrize("family", ["dtg-swift", "dtg-eager", "tg", "txl-tokens", "pushdown"])
def test_many_sentences_together(family: str) -> None:
    model = tiny(family)
    sentences = [tuple(map(tuple, words)) for words in (PIECES, PIECES[:3], [[1], [4], [5, 8, 9], [2]], [[6]])]
    search = BeamSearch(model, BeamOptions(columns=("all",), **LIMITS))
    for words, found in zip(sentences, search_sentences(search, sentences, ends=True), strict=True):
        (alone,) = search_all(search, [words])
        np.testing.assert_allclose(found.words, alone.words, rtol=1e-9, atol=1e-12)


def test_nothing_else_changes() -> None:
    model = tiny("dtg")
    plain, asked = (states(model, PIECES, columns=columns, **LIMITS)[-1] for columns in ((), ("all",)))
    assert (plain.surprisal, plain.entropy, plain.kept) == (asked.surprisal, asked.entropy, asked.kept)
    assert plain.measures == {}


def test_unknown_columns_are_named() -> None:
    with pytest.raises(UnknownNameError, match=r"reductionz.*Known: reductions"):
        LanguageModel(tiny("dtg")).begin(columns=["reductionz"])
