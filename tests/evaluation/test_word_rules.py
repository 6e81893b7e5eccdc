"""Evaluations and `Scorer` split raw text by the rules of the model's language, as `model.surprisal` does."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import dtg
from dtg.errors import InputError
from dtg.evaluation.harness import HarnessModel
from dtg.evaluation.tasks.perplexity import Perplexity
from dtg.language_model import LanguageModel
from dtg.text.sentence import Sentence
from tests.scoring.test_marginal import tiny

TEXT, OTHER = "L'homme parle.", "L'ami parle."
WORDS = ["L'", "homme", "parle", "."]  # in English, "L'homme" is one word
SUITE = {
    "meta": {"name": "french", "metric": "sum"},
    "region_meta": {"1": "subject", "2": "verb"},
    "predictions": [{"type": "formula", "formula": "(2;%good%) < (2;%bad%)"}],
    "items": [
        {
            "item_number": 1,
            "conditions": [
                {
                    "condition_name": name,
                    "regions": [{"region_number": 1, "content": noun}, {"region_number": 2, "content": "parle ."}],
                }
                for name, noun in (("good", "L'homme"), ("bad", "L'ami"))
            ],
        }
    ],
}


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return tiny("txl-tokens", language="fr")


@pytest.fixture(scope="module")
def log_probability(model: LanguageModel) -> float:
    (found,) = model.surprisal([TEXT])
    assert list(found.words) == WORDS
    return found.log_probability


def test_scorer(model: LanguageModel, log_probability: float) -> None:
    scorer = dtg.Scorer(model)
    assert [word for word, _ in scorer.token_score(TEXT)[0]] == WORDS
    whole = scorer.sequence_score(TEXT, lambda scores: scores.sum(0).item(), eos_token=True)
    assert whole == pytest.approx([log_probability])
    last = scorer.conditional_score("L'", "homme parle.", "", lambda scores: len(scores))
    assert last == [3]  # the border is between two words of French


def test_evaluations(model: LanguageModel, log_probability: float, tmp_path: Path) -> None:
    pairs, lines, suite = tmp_path / "pairs.tsv", tmp_path / "lines.txt", tmp_path / "french.json"
    pairs.write_text(f"good\tbad\n{TEXT}\t{OTHER}\n")
    lines.write_text(f"{TEXT}\n{OTHER}\n")
    suite.write_text(json.dumps(SUITE))

    (row,) = dtg.evaluate(model, "pairs", pairs, progress=False).rows.to_dict("records")
    assert row["good_words"] == 4 and row["good_log_probability"] == pytest.approx(log_probability)
    first, second = dtg.evaluate(model, "ppl", lines, progress=False).rows.to_dict("records")
    assert (first["text"], second["text"]) == (" ".join(WORDS), "L' ami parle .") and first["words"] == 4
    dtg.evaluate(model, "sg", suite, progress=False, out=tmp_path / "out")
    words = [line.split(",")[-2] for line in (tmp_path / "out" / "words.csv").read_text().splitlines()[1:5]]
    assert words == WORDS

    harness = HarnessModel(model)
    requests = [SimpleNamespace(args=(TEXT,), task_name="french", idx=0)]
    assert harness.loglikelihood_rolling(requests, disable_tqdm=True) == pytest.approx([log_probability])


def test_a_model_whose_words_have_to_be_given(tmp_path: Path) -> None:
    model = tiny("txl-tokens", language="none")
    (tmp_path / "lines.txt").write_text("L' homme parle .\n")
    with pytest.raises(InputError, match="raw text cannot be split into words here"):
        dtg.Scorer(model).token_score(TEXT)
    with pytest.raises(InputError, match="raw text cannot be split into words here"):
        dtg.evaluate(model, "ppl", tmp_path / "lines.txt", progress=False)
    assert dtg.evaluate(model, "ppl", tmp_path / "lines.txt", progress=False, tokenized=True).metrics


def test_a_sample_is_drawn_by_the_words_of_the_model(model: LanguageModel, tmp_path: Path) -> None:
    """A sample of a text is that of the same text split by hand, in French as in English."""
    lines = [f"L'{noun} parle." for noun in ("homme", "ami", "enfant", "élève", "arbre", "oiseau", "école", "orage")]
    text, french, english = (tmp_path / name for name in ("lines.txt", "french.txt", "english.txt"))
    text.write_text("\n".join(lines) + "\n")
    for path, language in ((french, "fr"), (english, "en")):
        path.write_text("\n".join(" ".join(Sentence.of_text(line, language).words) for line in lines) + "\n")

    def drawn(path: Path, of: LanguageModel, *, tokenized: bool) -> list[tuple[int, int]]:
        task = Perplexity.of(path, by="beam", sample=4, seed=1, tokenized=tokenized).for_model(of)
        return [(one.sentence_id, len(one.words)) for one in task.sentences]

    ours = drawn(text, model, tokenized=False)
    assert ours == drawn(french, model, tokenized=True)
    assert drawn(text, tiny("txl-tokens"), tokenized=False) == drawn(english, tiny("txl-tokens"), tokenized=True)
    assert [number for number, _ in ours] != [number for number, _ in drawn(english, model, tokenized=True)]
