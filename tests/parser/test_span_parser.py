"""The constituency parser: its loss against a slow twin, batches against single sentences, learning, saving, lists, draws."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import dtg
from dtg.errors import CheckpointError, ConfigError, InputError
from dtg.parser import BiaffineParser, ParserConfig, SpanParser
from dtg.parser.phrase_data import PhraseCorpus, constituents, nodes_of
from dtg.scoring.proposal import Proposal, draw
from dtg.trees import ConstituencyTree
from dtg.trees.phrases.brackets import parse_brackets
from tests.parser.parsers import SPAN_SIZES, phrase_corpus, small_parser, small_span_parser, small_train, some_phrases
from tests.parser.span_trees import log_partition_by_cells

SENTENCES = [("a", "b"), ("Ab", "unseen", "c", "d", "éé"), ("x" * 80,), ("a", "b", "c", "a", "b", "c", "d")]


def test_chains_are_joined_and_separated_again() -> None:
    tree = parse_brackets("(S (S+ (VP (NP a b)) (@X c)))")
    assert constituents(tree) == [(1, 3, r"S+S\+"), (1, 2, "VP+NP"), (3, 3, r"\@X")]
    assert nodes_of(constituents(tree)) == tree.nodes
    for tree in some_phrases(50, longest=9):
        assert nodes_of(constituents(tree)) == tree.nodes


def test_the_loss_is_that_of_the_slow_twin() -> None:
    trees = some_phrases(6, longest=5)
    corpus = phrase_corpus(trees)
    parser = small_span_parser(corpus)
    expected = 0.0
    for tree in trees:
        scores = parser.analyse([tree.words]).scores[0].double()
        ids = parser.vocabulary.label_ids
        total = sum(float(scores[first - 1, last - 1, ids[label]]) for first, last, label in constituents(tree))
        expected += float(log_partition_by_cells(scores)) - total
    loss = parser.loss(corpus.splits["train"].batch(range(6), "cpu"))
    assert loss.total.item() == pytest.approx(expected, rel=1e-5)
    assert loss.predicted == loss.words == sum(map(len, trees))


def test_a_label_that_training_has_not_seen_may_be_any() -> None:
    train = [parse_brackets("(S (NP a b) c)"), parse_brackets("(S (VP a b) c)")]
    dev = [parse_brackets("(S (QP a b) c)")]
    corpus = PhraseCorpus({"train": train, "dev": dev}, ParserConfig(**SPAN_SIZES))
    parser = small_span_parser(corpus)
    losses = [parser.loss(corpus.splits["train"].batch([index], "cpu")).total for index in (0, 1)]
    root = parser.vocabulary.label_ids["S"]
    scores = parser.analyse([("a", "b", "c")]).scores[0, 0, 1]
    # The third possibility is that the phrase is an S as well.
    as_s = losses[0] + scores[parser.vocabulary.label_ids["NP"]] - scores[root]
    expected = -torch.logsumexp(-torch.stack([*losses, as_s]), 0)
    assert parser.loss(corpus.splits["dev"].batch([0], "cpu")).total.item() == pytest.approx(expected.item(), rel=1e-4)


def test_rare_labels_are_left_out_and_counted() -> None:
    trees = [parse_brackets("(S (NP a b) c)"), parse_brackets("(S (NP a b) (QP c d))")]
    corpus = phrase_corpus(trees, label_count=2)
    assert corpus.tokenizer.labels == ("NP", "S") and corpus.rare_labels == 1
    with pytest.raises(InputError, match="no label occurs 5 times"):
        phrase_corpus(trees, label_count=5)


def test_it_learns_ten_sentences_by_heart(tmp_path: Path) -> None:
    trees = some_phrases(10)
    corpus = phrase_corpus(trees)
    parser = SpanParser.create(ParserConfig(**{**SPAN_SIZES, "width": 32}), corpus.tokenizer)
    outcome = small_train(
        parser, corpus, tmp_path / "run", epochs=80, peak_rate=2e-2, dev_every=1000, checkpoint_every=1000
    )
    assert outcome.finished == "complete"
    loaded = dtg.load_parser(tmp_path / "run" / "best")
    assert isinstance(loaded, SpanParser)
    found = list(loaded.parse_all((tree.words for tree in trees), annotate=True))
    assert [parsed.tree.nodes for parsed in found] == [tree.nodes for tree in trees]
    assert all(parsed.probability > 0.5 for parsed in found)
    for parsed in found:
        assert parsed.node_probabilities is not None and parsed.tags is not None
        assert len(parsed.node_probabilities) == len(parsed.tree.nodes)
        assert all(parsed.probability <= share + 1e-6 <= 1 + 2e-6 for share in parsed.node_probabilities)
        assert parsed.tree.tags == parsed.tags and len(parsed.tags) == len(parsed.tree)


def test_a_batch_gives_what_single_sentences_give() -> None:
    corpus = phrase_corpus()
    parser = small_span_parser(corpus)
    single = [parser.parse(words) for words in SENTENCES]
    together = list(parser.parse_all(SENTENCES))
    assert [parsed.tree for parsed in together] == [parsed.tree for parsed in single]
    for one, other, words in zip(single, together, SENTENCES, strict=True):
        assert one.tree.words == words and isinstance(one.tree, ConstituencyTree)
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-5)
    alone = [parser.loss(corpus.splits["train"].batch([i], "cpu")).total.item() for i in range(10)]
    assert parser.loss(corpus.splits["train"].batch(range(10), "cpu")).total.item() == pytest.approx(sum(alone))


def test_lists_and_draws_are_different_trees_with_their_probabilities() -> None:
    parser = small_span_parser()
    words = ("a", "b", "c")
    best, drawn = parser.k_best(words, 50), parser.sample_without_replacement(words, 50, seed=1)
    for some in (best, drawn):
        assert len({parsed.tree.key for parsed in some}) == 50
        assert sum(parsed.probability for parsed in some) < 1
    assert [one.log_probability for one in best] == sorted((one.log_probability for one in best), reverse=True)
    assert len(parser.sample(words, 7, seed=1)) == 7
    assert isinstance(parser, Proposal)
    draws = draw(parser, words, 20, None)
    assert draws.drawn == "without replacement" and draws.log_q is not None and len(draws.trees) == 20


def test_a_saved_parser_is_recognised(tmp_path: Path) -> None:
    parser = small_span_parser()
    parser.save(tmp_path / "phrases")
    small_parser().save(tmp_path / "dependencies")
    config = json.loads((tmp_path / "phrases" / "config.json").read_text())["parser"]
    assert config["kind"] == "constituency" and "arc_width" not in config
    config = json.loads((tmp_path / "dependencies" / "config.json").read_text())["parser"]
    assert not {"kind", "span_width", "label_count"} & set(config)  # as it was before there were others
    loaded = dtg.load_parser(tmp_path / "phrases")
    assert isinstance(loaded, SpanParser) and loaded.parse(("a", "b")) == parser.parse(("a", "b"))
    assert isinstance(dtg.load_parser(tmp_path / "dependencies"), BiaffineParser)
    with pytest.raises(CheckpointError, match="settings of a constituency parser; this one gives dependency trees"):
        BiaffineParser.load(tmp_path / "phrases")
    with pytest.raises(ConfigError, match='has labels and the loss "crf"'):
        ParserConfig(kind="constituency", loss="arcs")
