"""The bundled models and parsers."""

from __future__ import annotations

import operator
import re
from pathlib import Path

import pytest
from safetensors.torch import load_file

import dtg
from dtg import pretrained
from dtg.errors import DtgError
from tests.cli.running import dtg as run
from tests.dependency import as_dependency
from tests.evaluation.parsing import evaluate_parser
from tests.parser.parsers import small_parser
from tests.real_data import data_file

SENTENCE = ("The", "manager", "to", "the", "side", "of", "the", "architects", "likes", "to", "gamble", ".")
HEADS = (2, 9, 5, 5, 2, 8, 8, 5, 0, 11, 9, 9)


def test_the_parser_parses() -> None:
    found = dtg.load_parser().parse(SENTENCE)
    assert found.tree.heads == HEADS and found.tree.labels is not None and found.tree.labels[1] == "nsubj"


@pytest.mark.slow
def test_the_parser_of_phrases_parses() -> None:
    """Its encoder, too, is in its folder."""
    found = dtg.load_parser("parser-phrases").parse(("The", "keys", "to", "the", "cabinet", "are", "here", "."))
    brackets = "(S (NP (NP The keys) (PP to (NP the cabinet))) (VP are (ADVP here)) .)"
    assert isinstance(found.tree, dtg.ConstituencyTree) and found.tree.brackets() == brackets


@pytest.mark.parametrize("name", [pretrained.MODEL, pretrained.WORDS_MODEL])
def test_the_models_know_words_from_noise(name: str) -> None:
    sentences = [SENTENCE, tuple(reversed(SENTENCE))]
    good, bad = dtg.load(name).surprisal(sentences, beam=20)
    assert good.log_probability > bad.log_probability + 10


def test_the_model_parses() -> None:
    tree = as_dependency(dtg.load().parse(SENTENCE, beam=100).tree)
    assert sum(map(operator.eq, tree.heads, HEADS)) >= 9


@pytest.mark.parametrize(
    ("name", "most"), [(pretrained.PARSER, 8e6), (pretrained.MODEL, 20e6), (pretrained.WORDS_MODEL, 20e6)]
)
def test_they_are_small_and_in_half_precision(name: str, most: float) -> None:
    folder = pretrained.find(name)
    assert sum(path.stat().st_size for path in folder.iterdir()) < most
    assert {str(tensor.dtype) for tensor in load_file(folder / "model.safetensors").values()} == {"torch.float16"}


@pytest.mark.parametrize("name", pretrained.names())
def test_cards_say_what_must_be_known(name: str) -> None:
    for heading in ("## Data", "## Licence", "## Scores", "## Limits", "## How to make it again"):
        assert heading in pretrained.card(name)


def test_what_is_bundled_is_free_for_any_use() -> None:
    """Cards are read by people; that nobody forgets a line of them is all that a test can see."""
    bundled = [path.parent for path in pretrained.FOLDER.glob(f"*/{pretrained.CARD}")]
    assert {folder.name for folder in bundled} == {pretrained.MODEL, pretrained.WORDS_MODEL, pretrained.PARSER}
    for folder in bundled:
        licence = pretrained.card(folder.name).partition("## Licence")[2].partition("\n## ")[0]
        assert "CC BY-SA 4.0" in licence and "also commercially" in licence
    for name in set(pretrained.names()) - {folder.name for folder in bundled}:
        assert "CC BY-NC-SA 4.0" in pretrained.card(name).partition("## Licence")[2]


def test_the_score_on_the_card_is_the_score() -> None:
    """The first 200 sentences of EWT test, as the card gives them."""
    stated = re.search(r"first 200 sentences of EWT test: UAS ([\d.]+)", pretrained.card(pretrained.PARSER))
    assert stated is not None
    trees = []
    for tree in dtg.read_conllu(data_file("ud/en_ewt-ud-test.conllu")):
        trees.append(tree)
        if len(trees) == 200:
            break
    uas = evaluate_parser(dtg.load_parser(), trees)["all"]["uas"]
    assert uas == pytest.approx(float(stated.group(1)), abs=0.1)


def test_a_folder_wins_over_a_bundled_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert pretrained.find(pretrained.PARSER) == pretrained.FOLDER / pretrained.PARSER
    small_parser().save(pretrained.PARSER)
    assert pretrained.find(pretrained.PARSER) == Path(pretrained.PARSER)
    assert pretrained.find("nowhere") == Path("nowhere")


def test_a_checkout_has_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What may not be used commercially is not in the package, but is found by name beside it; the package's own wins."""
    for name in ("only-here", pretrained.PARSER):
        small_parser().save(tmp_path / name)
        (tmp_path / name / pretrained.CARD).write_text("# a card\n", encoding="utf-8")
    assert "only-here" not in pretrained.names()
    monkeypatch.setattr(pretrained, "CHECKOUT", tmp_path)
    assert "only-here" in pretrained.names()
    assert pretrained.find("only-here") == tmp_path / "only-here" and pretrained.is_known(tmp_path / "only-here")
    assert pretrained.card("only-here") == "# a card\n"
    assert pretrained.find(pretrained.PARSER) == pretrained.FOLDER / pretrained.PARSER
    assert not pretrained.is_known(tmp_path / pretrained.PARSER)


def test_commands_use_it_and_tell_about_it(tmp_path: Path) -> None:
    assert "parser-small" in run("info").stdout
    card = run("info", pretrained.PARSER).stdout
    assert "## Licence" in card and "a parser in" in card and "MB of weights" in card
    assert "a model in" in run("info", pretrained.MODEL).stdout
    assert "surprisal, bits" in run("surprisal", "The dog barks.").stdout  # by the bundled model
    parsed = run("parse", " ".join(SENTENCE), "--tokenized").stdout
    assert "\tlikes\t_\tVERB\t_\t_\t0\troot\t" in parsed
    small_parser().save(tmp_path / "parser")
    assert '"kind": "parser"' in run("info", str(tmp_path / "parser"), "--json").stdout
    (tmp_path / "parser" / "config.json").write_text("{}")
    assert "is not that of a model or a parser" in run("info", str(tmp_path / "parser"), code=1).stderr


def test_an_unknown_name_is_answered_with_what_there_is() -> None:
    with pytest.raises(DtgError, match=r"dtg-maxi is not a model.*or a name: dtg-small or txl-small"):
        dtg.load("dtg-maxi")
    with pytest.raises(DtgError, match="is a parser, not a language model"):
        dtg.load(pretrained.PARSER)
