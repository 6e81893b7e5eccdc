"""The biaffine parser: its loss against enumeration, batches against single sentences, learning, saving, lists, draws."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from dtg.errors import CheckpointError, ConfigError, InputError, ResumeError
from dtg.parser import BiaffineParser, ParserConfig
from dtg.parser.data import ParserCorpus
from dtg.parser.encoder.vocabulary import LETTERS, Vocabulary
from dtg.scoring.proposal import Proposal, draw
from dtg.trees import DependencyTree, read_conllu
from dtg.trees.enumeration import enumerate_projective
from tests.parser.parsers import SIZES, small_corpus, small_parser, small_train, some_trees
from tests.training.standin import assert_same

SENTENCES = [("a", "b"), ("Ab", "unseen", "c", "d", "éé"), ("x" * 80,), ("a", "b", "c", "a", "b", "c", "d")]


def arc_scores(parser: BiaffineParser, words: tuple[str, ...]) -> list[list[float]]:
    found: list[list[float]] = parser.analyse([words]).scores[0].double().tolist()
    return found


def log_sum(values: list[float]) -> float:
    return math.log(sum(map(math.exp, values)))


@pytest.mark.parametrize("labelled", [True, False])
def test_the_crf_loss_is_that_of_all_trees_enumerated(labelled: bool) -> None:
    trees = some_trees(6, longest=5)
    corpus = small_corpus(trees)
    parser = small_parser(corpus, labelled=labelled)
    expected = 0.0
    for tree in trees:
        scores = arc_scores(parser, tree.words)
        totals = {h: sum(scores[m][head] for m, head in enumerate(h)) for h in enumerate_projective(len(tree))}
        expected -= totals[tree.heads] - log_sum(list(totals.values()))
        if labelled:
            expected -= sum(label_log_probabilities(parser, tree))
    loss = parser.loss(corpus.splits["train"].batch(range(6), "cpu"))
    assert loss.total.item() == pytest.approx(expected, rel=1e-5)
    assert loss.predicted == loss.words == sum(map(len, trees))


def label_log_probabilities(parser: BiaffineParser, tree: DependencyTree) -> list[float]:
    """By the formula, arc by arc: a bilinear form of the two words' vectors, each with a 1 added."""
    assert parser.labels is not None and tree.labels is not None
    with torch.no_grad():
        found = parser.analyse([tree.words])
        dependents, heads = parser.labels.dependent(found.words)[0], parser.labels.head(found.heads)[0]
        one = torch.ones(1)
        values = []
        for word, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True)):
            left, right = torch.cat([dependents[word], one]), torch.cat([heads[head], one])
            scores = torch.stack(
                [left @ parser.labels.weight[:, k] @ right for k in range(len(parser.vocabulary.labels))]
            )
            values.append(scores.log_softmax(0)[parser.vocabulary.label_ids[label]].item())
    return values


def test_the_arc_loss_chooses_each_head_by_itself() -> None:
    trees = some_trees(6)
    corpus = small_corpus(trees)
    parser = small_parser(corpus, loss="arcs", labelled=False)
    expected = 0.0
    for tree in trees:
        for word, row in enumerate(arc_scores(parser, tree.words), start=1):
            others = [score for head, score in enumerate(row) if head != word]
            expected += log_sum(others) - row[tree.heads[word - 1]]
    loss = parser.loss(corpus.splits["train"].batch(range(6), "cpu"))
    assert loss.total.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("loss", ["crf", "arcs"])
def test_it_learns_ten_sentences_by_heart(tmp_path: Path, loss: str) -> None:
    trees = some_trees(10)
    corpus = small_corpus(trees)
    parser = BiaffineParser.create(ParserConfig(**{**SIZES, "width": 32, "loss": loss}), corpus.tokenizer)
    outcome = small_train(
        parser, corpus, tmp_path / "run", epochs=60, peak_rate=2e-2, dev_every=1000, checkpoint_every=1000
    )
    assert outcome.finished == "complete"
    found = BiaffineParser.load(tmp_path / "run" / "best").parse_all(tree.words for tree in trees)
    assert [parsed.tree for parsed in found] == trees  # heads and labels


def test_a_batch_gives_what_single_sentences_give() -> None:
    parser = small_parser()
    single = [parser.parse(words) for words in SENTENCES]
    together = list(parser.parse_all(SENTENCES))
    assert [parsed.tree for parsed in together] == [parsed.tree for parsed in single]
    for one, other, words in zip(single, together, SENTENCES, strict=True):
        assert one.tree.words == words and one.tree.is_projective
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-5)
    alone = [parser.loss(small_corpus().splits["train"].batch([i], "cpu")).total.item() for i in range(10)]
    assert parser.loss(small_corpus().splits["train"].batch(range(10), "cpu")).total.item() == pytest.approx(sum(alone))


def test_order_is_kept_over_windows_and_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = small_parser()
    sentences = [tree.words for tree in some_trees(30)]
    expected = [parsed.tree for parsed in parser.parse_all(sentences)]
    monkeypatch.setattr("dtg.parser.parser.WINDOW", 7)
    monkeypatch.setattr("dtg.parser.parser.BATCH_WORDS", 12)
    assert [parsed.tree for parsed in parser.parse_all(sentences)] == expected
    assert [tree.words for tree in expected] == sentences


def test_sentences_are_read_no_further_than_needed() -> None:
    def endless() -> object:
        while True:
            yield ("a", "b")

    assert next(small_parser().parse_all(endless())).tree.words == ("a", "b")  # type: ignore[arg-type]


def test_best_lists_and_draws() -> None:
    parser, words = small_parser(), ("a", "b", "c")
    scores = arc_scores(parser, words)
    totals = {heads: sum(scores[m][head] for m, head in enumerate(heads)) for heads in enumerate_projective(3)}
    order = sorted(totals, key=lambda heads: -totals[heads])
    found = parser.k_best(words, 100)
    assert [parsed.tree.heads for parsed in found] == order
    assert sum(parsed.probability for parsed in found) == pytest.approx(1, abs=1e-5)
    assert found[0] == parser.parse(words)
    drawn = parser.sample_without_replacement(words, 100, torch.Generator().manual_seed(0))
    assert {parsed.tree.heads for parsed in drawn} == set(order)
    assert len(parser.sample(words, 20, torch.Generator().manual_seed(0))) == 20


def test_labels_are_the_best_of_each_arc() -> None:
    parser, words = small_parser(), ("a", "b", "c", "d")
    assert parser.labels is not None
    for parsed in parser.k_best(words, 10):
        with torch.no_grad():
            found = parser.analyse([words])
            scores = parser.labels(found.words, found.heads, torch.tensor([parsed.tree.heads]))
        expected = tuple(parser.vocabulary.labels[number] for number in scores[0].argmax(1).tolist())
        assert parsed.tree.labels == expected
    assert small_parser(labelled=False).parse(words).tree.labels is None


def test_it_is_a_proposal() -> None:
    parser, words = small_parser(), ("a", "b", "c")
    assert isinstance(parser, Proposal)
    draws = draw(parser, words, 5, torch.Generator().manual_seed(4))
    assert draws.drawn == "without replacement" and len(set(draws.trees)) == 5
    assert draws == draw(parser, words, 5, torch.Generator().manual_seed(4))
    probability = {parsed.tree.heads: parsed.log_probability for parsed in parser.k_best(words, 7)}
    assert draws.log_q is not None
    assert list(draws.log_q) == pytest.approx([probability[tree.heads] for tree in draws.trees], abs=1e-5)


def test_training_resumes_to_the_bit(tmp_path: Path) -> None:
    corpus = small_corpus()
    make = {"dropout": 0.3, "word_dropout": 0.3}
    assert small_train(small_parser(corpus, **make), corpus, tmp_path / "whole").finished == "complete"
    while (
        small_train(small_parser(corpus, **make), corpus, tmp_path / "parts", max_minutes=0, resume=True).finished
        is None
    ):
        pass
    assert_same(tmp_path / "whole", tmp_path / "parts")


def test_another_treebank_is_not_resumed_with(tmp_path: Path) -> None:
    corpus = small_corpus()
    small_train(small_parser(corpus), corpus, tmp_path / "run", max_minutes=0)
    other = small_corpus(some_trees(10, seed=5))
    with pytest.raises(ResumeError, match="corpus was"):
        small_train(small_parser(other), other, tmp_path / "run", resume=True)


def test_a_saved_parser_comes_back(tmp_path: Path) -> None:
    parser = small_parser()
    parser.save(tmp_path / "saved")
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == [
        "config.json",
        "manifest.json",
        "model.safetensors",
        "vocabulary.json",
    ]
    again = BiaffineParser.load(tmp_path / "saved")
    assert list(again.parse_all(SENTENCES)) == list(parser.parse_all(SENTENCES))
    assert again.vocabulary == parser.vocabulary
    weights = load_file(tmp_path / "saved" / "model.safetensors")
    assert weights.keys() == parser.state_dict().keys()
    small_parser().half().save(tmp_path / "half")
    assert load_file(tmp_path / "half" / "model.safetensors")["root"].dtype == torch.float16
    found = BiaffineParser.load(tmp_path / "half").parse(SENTENCES[1])
    assert found.log_probability == pytest.approx(parser.parse(SENTENCES[1]).log_probability, rel=0.05)


def test_folders_that_are_no_parsers(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"is not a parser: it has no config\.json"):
        BiaffineParser.load(tmp_path)
    (tmp_path / "config.json").write_text('{"model": {}}')
    with pytest.raises(CheckpointError, match="is a language model, not a parser"):
        BiaffineParser.load(tmp_path)
    small_parser().save(tmp_path)
    content = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**content, "format_version": 9}))
    with pytest.raises(CheckpointError, match="format_version 9; this dtg reads 1"):
        BiaffineParser.load(tmp_path)
    small_parser().save(tmp_path)
    (tmp_path / "vocabulary.json").write_text('{"words": [], "characters": [], "labels": [], "tags": []}')
    with pytest.raises(CheckpointError, match="not the vocabulary that the parser was saved with"):
        BiaffineParser.load(tmp_path)
    (tmp_path / "vocabulary.json").write_text("[]")
    with pytest.raises(CheckpointError, match="words, characters, labels, tags are expected"):
        BiaffineParser.load(tmp_path, verify=False)


def test_words_that_are_no_sentence() -> None:
    parser = small_parser()
    with pytest.raises(InputError, match="there are no words"):
        parser.parse([])
    with pytest.raises(InputError, match="word 2 of"):
        parser.parse(["a", ""])
    with pytest.raises(InputError, match=r"Call parser\.eval\(\) first"):
        small_parser().train().parse(["a"])


def test_the_vocabulary() -> None:
    vocabulary = Vocabulary.of([DependencyTree(("The", "the", "Dog"), (2, 0, 2), ("a", "root", "b"))], word_count=2)
    assert (vocabulary.words, vocabulary.labels) == (("the",), ("a", "b", "root"))
    assert vocabulary.word_ids == {"the": 1}
    batch = vocabulary.batch([("THE", "dog", "The"), ("é",)], "cpu")
    assert batch.words.tolist() == [[1, 0, 1], [0, 0, 0]]
    assert batch.lengths.tolist() == [3, 1] and batch.is_word.tolist() == [[True] * 3, [True, False, False]]
    assert batch.spelling.shape == (4, 3) and batch.spelling[3].tolist() == [1, 0, 0]
    assert len(vocabulary.spell("D" * LETTERS + "og" * LETTERS)) == LETTERS
    assert vocabulary.spell("D" * 100 + "og")[-2:] == vocabulary.spell("og")
    assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"depth": 3}, "no setting depth"),
        ({"layers": 0}, "layers is 0; a whole number"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"loss": "hinge"}, "loss is 'hinge'; known: crf, arcs"),
        ({"labelled": 1}, "labelled is 1; true or false"),
        ({"tag_weight": -1}, "tag_weight is -1; a number of at least 0"),
    ],
)
def test_mistakes_in_the_configuration(table: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ParserConfig.from_dict(table)


def test_labels_need_labels() -> None:
    trees = [DependencyTree(("a", "b"), (2, 0))]
    corpus = ParserCorpus({"train": trees, "dev": trees}, ParserConfig(word_count=1))
    with pytest.raises(ConfigError, match="Set labelled = false"):
        BiaffineParser.create(ParserConfig(), corpus.tokenizer)
    parser = BiaffineParser.create(ParserConfig(labelled=False), corpus.tokenizer)
    assert parser.loss(corpus.splits["train"].batch([0], "cpu")).total > 0


def test_tags_are_learned_beside_but_not_judged_by(tmp_path: Path) -> None:
    path = tmp_path / "tagged.conllu"
    lines = ["1\ta\t_\tNOUN\t_\t_\t2\tsubj\t_\t_", "2\tb\t_\tVERB\t_\t_\t0\troot\t_\t_", "", ""]
    path.write_text("\n".join(lines))
    corpus = small_corpus(list(read_conllu(path)))
    assert corpus.tokenizer.tags == ("NOUN", "VERB")
    with_tags, without = small_parser(corpus, tag_weight=2.0), small_parser(corpus, tag_weight=0)
    assert with_tags.tags is not None and without.tags is None
    batch = corpus.splits["train"].batch([0], "cpu")
    assert batch.tags.tolist() == [[0, 1]]
    without.load_state_dict({name: value for name, value in with_tags.state_dict().items() if "tags" not in name})
    assert with_tags.loss(batch).total == without.loss(batch).total
    logits = with_tags.tags(with_tags.analyse([("a", "b")]).words)[0].log_softmax(1)
    expected = -2.0 * (logits[0, 0] + logits[1, 1])
    added = with_tags.train().loss(batch).total - without.train().loss(batch).total
    assert added.item() == pytest.approx(expected.item(), rel=1e-4)


def test_arc_probabilities_are_sums_over_all_trees() -> None:
    parser = small_parser()
    words = ("a", "b", "c", "d")
    scores = arc_scores(parser, words)
    totals = {h: math.exp(sum(scores[m][head] for m, head in enumerate(h))) for h in enumerate_projective(4)}
    for parsed in parser.k_best(words, 3, annotate=True):
        assert parsed.arc_probabilities is not None
        for word, share in enumerate(parsed.arc_probabilities):
            having = sum(total for heads, total in totals.items() if heads[word] == parsed.tree.heads[word])
            assert share == pytest.approx(having / sum(totals.values()), abs=1e-5)


def test_text_is_split_and_draws_have_a_seed() -> None:
    parser = small_parser()
    assert parser.parse("dogs bark.").tree.words == ("dogs", "bark", ".")
    assert parser.sample("a b c", 5, seed=1) == parser.sample(("a", "b", "c"), 5, seed=1)
    assert parser.sample_without_replacement("a b c", 5, seed=1) != parser.sample_without_replacement(
        "a b c", 5, seed=2
    )
    with pytest.raises(InputError, match="put it into a list"):
        list(parser.parse_all("a b"))
