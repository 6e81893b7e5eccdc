"""What people do with phrase-structure models: generate, sum, rerank, parse, step; saved and loaded."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from dtg import ConstituencyTree, DependencyTree
from dtg.errors import InputError, TooFarError
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.search import generation
from dtg.text import Tokenizer
from dtg.trees import BinaryTree
from tests.model.test_phrase_models import TINY
from tests.phrase_twins import PHRASE_FAMILIES

KINDS = {"pushdown": BinaryTree}


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.train("the dog barks at a cat and sees it run away from here".split() * 3, 300)


def model_of(family: str, *, head: str = "factored", seed: int = 0, **settings: Any) -> LanguageModel:
    """Labels and few limits; a random model opens phrases as readily as it generates."""
    own: dict[str, Any] = {} if family == "pushdown" else {"labels": ("S", "NP"), "max_open": 3, "max_chain": 2}
    heads = 4 if family == "plm-mask" else 2
    config = ModelConfig(
        family=family,
        **{**TINY, "attention_heads": heads, "vocabulary": tokenizer().size, "head": head, **own, **settings},
    )
    return LanguageModel(DecoderModel.create(config, tokenizer(), seed=seed).double().eval())


def kind_of(family: str) -> Any:
    return KINDS.get(family, ConstituencyTree)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
@pytest.mark.parametrize("head", ["factored", "joint"])
def test_every_sentence_is_a_valid_tree(family: str, head: str) -> None:
    model = model_of(family, head=head)
    some = model.generate(60, max_words=9, seed=1)
    assert len(some) == 60
    for sentence in some:
        assert 1 <= len(sentence.words) <= 9
        assert all(sentence.words)
        assert not any(mark in word for word in sentence.words for mark in " \t\n\ufffd")
        assert sentence.log_probability < 0.0
        assert type(sentence.tree) is kind_of(family)
        assert sentence.tree.words == sentence.words
        assert model.family.system.reaches(sentence.tree)
        assert sentence.tree.draw()
    assert len({sentence.words for sentence in some}) > 20
    assert len({sentence.tree.key for sentence in some}) > 5
    assert some == model.generate(60, max_words=9, seed=1)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
@pytest.mark.parametrize("constrained", [True, False])
def test_log_probability_is_that_of_the_tree(family: str, constrained: bool) -> None:
    """Wherever the subwords drawn are those that the tokenizer would choose, and nothing was cut short."""
    model = model_of(family, constrained=constrained)
    compared = 0
    seed = 5 if family == "tg-hybrid" else 2  # with 2 it draws a word of one subword in two
    for sentence in model.generate(60, max_words=12, seed=seed):
        if not sentence.complete:
            continue
        (score,) = model.score([sentence.tree])
        if score == pytest.approx(sentence.log_probability, rel=1e-9):
            compared += 1
        else:  # subwords that spell the same word in another way
            assert any(len(tokenizer().encode(word)) > 1 for word in sentence.words)
    assert compared >= 5


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_at_the_limit_the_tree_closes(family: str) -> None:
    """A model that never wants to stop: every sentence has the most words allowed, and a whole tree."""
    model = model_of(family)
    with torch.no_grad():
        model.decoder_model.head.outer.bias[0] = 30.0  # type: ignore[union-attr, operator]
    for sentence in model.generate(20, max_words=4, seed=3):
        assert len(sentence.words) == 4
        assert not sentence.complete
        assert type(sentence.tree) is kind_of(family)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
@pytest.mark.parametrize("max_words", [1, 2, 3])
def test_few_words(family: str, max_words: int) -> None:
    """Where the last word allowed begins with a subword that is nothing but the mark of a beginning, it is continued."""
    model = model_of(family)
    mark = next(
        piece for piece in range(tokenizer().size) if tokenizer().starts_word[piece] and not tokenizer().decode([piece])
    )
    with torch.no_grad():
        model.decoder_model.head.bias[mark] = 3.0  # type: ignore[index]
        model.decoder_model.head.outer.bias[0] = 5.0  # type: ignore[union-attr, operator]
    for sentence in model.generate(60, max_words=max_words, seed=5):
        assert len(sentence.words) <= max_words
        assert all(sentence.words)
        assert type(sentence.tree) is kind_of(family)


def test_marks_where_no_subword_may_wait() -> None:
    """With room for two constituents, a word that begins with a mark alone cannot come where both are taken."""
    model = model_of("pushdown", attach_limit=2)
    mark = next(
        piece for piece in range(tokenizer().size) if tokenizer().starts_word[piece] and not tokenizer().decode([piece])
    )
    with torch.no_grad():
        model.decoder_model.head.bias[mark] = 3.0  # type: ignore[index]
        model.decoder_model.head.outer.bias[0] = 5.0  # type: ignore[union-attr, operator]
    for sentence in model.generate(40, max_words=8, seed=5):
        assert all(sentence.words)
        assert model.family.system.reaches(sentence.tree)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_prompts_and_more_than_fit_at_once(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "AT_ONCE", 3)
    monkeypatch.setattr(generation, "TIDY_EVERY", 2)
    model = model_of(family)
    some = model.generate(8, prompt=["the", "doghere"], max_words=7, seed=6)
    assert len(some) == 8
    for sentence in some:
        assert sentence.words[:2] == ("the", "doghere")
        assert type(sentence.tree) is kind_of(family)
        if sentence.complete:
            assert sentence.log_probability < 0.0
    only = model.generate(8, prompt="the dog barks", max_words=3, seed=7)
    assert {sentence.words for sentence in only} == {("the", "dog", "barks")}
    assert len({sentence.tree.key for sentence in only}) > 1  # the prompt's parse is drawn


SENTENCE = ("the", "dog", "barks")


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_sums_over_trees(family: str) -> None:
    model = model_of(family)
    exact = model.marginal(SENTENCE, "exact")
    assert exact.trees == model.family.system.count_trees(3)
    beam = model.marginal(SENTENCE, "beam", beam=100_000, word_beam=100_000)
    assert beam.log_probability == pytest.approx(exact.log_probability, rel=1e-10)
    assert beam.trees == exact.trees
    narrow = model.marginal(SENTENCE, "beam", beam=2)
    assert narrow.log_probability <= exact.log_probability + 1e-12
    every = list(model.family.system.trees(SENTENCE))
    listed = model.marginal(SENTENCE, proposal=every)
    assert listed.log_probability == pytest.approx(exact.log_probability, rel=1e-10)
    both = model.marginal(SENTENCE, "combined", proposal=every[:1], beam=1)
    assert narrow.lower_bound - 10 < both.lower_bound <= exact.log_probability + 1e-12
    (one,) = model.surprisal([SENTENCE], beam=100_000, word_beam=100_000)
    assert one.log_probability == pytest.approx(exact.log_probability, rel=1e-10)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_reranking_and_parsing(family: str) -> None:
    model = model_of(family)
    every = list(model.family.system.trees(SENTENCE))
    ranked = model.rerank(SENTENCE, [*every, every[0]])
    assert {one.tree.key for one in ranked.trees} == {tree.key for tree in every}
    assert ranked.lower_bound == pytest.approx(model.marginal(SENTENCE, "exact").log_probability, rel=1e-10)
    best = model.parse(SENTENCE, beam=100_000, word_beam=100_000)
    assert type(best.tree) is kind_of(family)
    assert best.tree.key == ranked.trees[0].tree.key
    assert best.log_probability == pytest.approx(ranked.trees[0].log_probability, rel=1e-10)
    assert model.score([best.tree]) == pytest.approx([best.log_probability], rel=1e-10)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_trees_word_by_word(family: str) -> None:
    state = model_of(family).begin(beam=50)
    for number, word in enumerate(SENTENCE, start=1):
        state = state.step(word)
        partial = state.trees()
        assert partial[0].words == SENTENCE[:number]
        assert sum(tree.probability for tree in state.trees(None)) == pytest.approx(1.0)
    whole = state.end().trees(3)
    assert all(type(scored.tree) is kind_of(family) and scored.tree.words == SENTENCE for scored in whole)
    assert len({scored.tree.key for scored in whole}) == len(whole)


@pytest.mark.parametrize("family", PHRASE_FAMILIES)
def test_saved_and_loaded(family: str, tmp_path: Path) -> None:
    """Everything that makes the model is in its folder, labels included."""
    settings: Any = {
        "tg": {"activation": "gelu_tanh", "attention_output_bias": True, "tied_arc_rows": False},
        "plm": {"typed_closing": True},
        "plm-mask": {"view_heads": (1, 2, 1)},
        "tg-hybrid": {"memory": "rows", "memory_on_compose": "all", "memory_layers": "upper", "head_gates": True},
        "pushdown": {"attachment": "additive", "embedding_scale": True, "position_biases": False, "attach_limit": 9},
    }[family]
    model = model_of(family, **settings)
    model = LanguageModel(model.decoder_model.float())
    model.save(tmp_path / "model")
    found = json.loads((tmp_path / "model" / "config.json").read_text())
    assert json.dumps(["S", "NP"]) in json.dumps(found) or family == "pushdown"
    loaded = LanguageModel.load(tmp_path / "model")
    assert loaded.config == model.config
    every = list(model.family.system.trees(SENTENCE))[:20]
    assert loaded.score(every) == model.score(every)
    assert loaded.marginal(SENTENCE, "beam", beam=20) == model.marginal(SENTENCE, "beam", beam=20)
    assert loaded.generate(3, max_words=5) == model.generate(3, max_words=5)


def test_what_cannot_be_asked() -> None:
    model, pushdown = model_of("tg"), model_of("pushdown", attach_limit=2)
    arcs = DependencyTree(SENTENCE, (2, 0, 2))
    with pytest.raises(InputError, match="top-down derives phrase-structure trees"):
        model.score([arcs])
    with pytest.raises(InputError, match="top-down derives phrase-structure trees"):
        model.marginal(SENTENCE, proposal=[arcs])
    with pytest.raises(InputError, match=r"labelled VP, which the model does not know. Known: S, NP"):
        model.score([ConstituencyTree(SENTENCE, (("VP", 1, 3),))])  # type: ignore[arg-type]
    deep = ConstituencyTree(SENTENCE, (("S", 1, 3),) * 3)  # type: ignore[arg-type]
    with pytest.raises(TooFarError, match="3 that begin at one word; the limits are 3 and 2"):
        model.score([deep])
    assert model.marginal(SENTENCE, proposal=[deep, *model.family.system.trees(SENTENCE)]).out_of_reach == 1
    words = tuple("the dog sees it".split())
    right = BinaryTree(words, ((1, 4), (2, 4), (3, 4)))
    assert pushdown.marginal(words, "exact").trees == pushdown.family.system.count_trees(4) == 4
    with pytest.raises(TooFarError, match="needs 3 constituents on the stack"):
        pushdown.score([right])
