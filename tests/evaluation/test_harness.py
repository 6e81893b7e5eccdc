"""lm-evaluation-harness on our models: the harness itself, offline, on pairs written here, against our own scores."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lm_eval
import pytest
from lm_eval.api.instance import Instance
from lm_eval.api.model import CachingLM
from lm_eval.tasks import TaskManager

from dtg.errors import InputError
from dtg.evaluation.harness import HarnessModel, main
from dtg.language_model import LanguageModel
from dtg.scorer import Scorer
from tests.scoring.test_marginal import tiny
from tests.scoring.test_scorer import total

PAIRS = (
    ("The dogs that saw a cat run.", "The dogs that saw a cat runs."),
    ("A mouse ran quickly.", "A mouse ran quick."),
    ("A cat chased the big dog.", "A cat chased big the dog."),
    ("The dog didn't run.", "The dog didn't ran."),
    ("Mice run.", "Mice runs."),
)
# What the harness's own blimp tasks say, but for the data.
TASK = """
task: pairs
dataset_path: json
dataset_kwargs:
  data_files: {{train: {folder}/pairs.jsonl}}
  cache_dir: {folder}/datasets
output_type: multiple_choice
validation_split: train
doc_to_text: ""
doc_to_target: 0
doc_to_choice: "{{{{[sentence_good, sentence_bad]}}}}"
num_fewshot: 0
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
"""


def write_task(folder: Path) -> None:
    lines = [json.dumps({"sentence_good": good, "sentence_bad": bad}) for good, bad in PAIRS]
    (folder / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "pairs.yaml").write_text(TASK.format(folder=folder), encoding="utf-8")


def asked(kind: str, *arguments: tuple[Any, ...]) -> list[Instance]:
    return [Instance(kind, {}, pair, 0, ("made_up", 0, 1)) for pair in arguments]


def log_probabilities(model: LanguageModel, texts: Sequence[str], **options: Any) -> list[float]:
    """Of whole sentences, each searched alone: what `dtg evaluate blimp` compares."""
    return [model.surprisal([text], **options)[0].log_probability for text in texts]


def log_probabilities_of_pairs(model: LanguageModel) -> list[tuple[float, float]]:
    found = log_probabilities(model, [text for pair in PAIRS for text in pair], beam=20, word_beam=5)
    return list(zip(found[::2], found[1::2], strict=True))


@pytest.mark.parametrize("family", ["dtg", "txl-tokens"])
def test_minimal_pairs_in_the_harness(family: str, tmp_path: Path) -> None:
    write_task(tmp_path)
    tiny(family).save(tmp_path / "model")
    found = lm_eval.simple_evaluate(
        model="dtg",
        model_args=f"pretrained={tmp_path}/model,beam=20,word_beam=5",
        tasks=["pairs"],
        task_manager=TaskManager(include_path=str(tmp_path), include_defaults=False),
        bootstrap_iters=0,
    )
    expected = log_probabilities_of_pairs(LanguageModel.load(tmp_path / "model"))
    samples = sorted(found["samples"]["pairs"], key=lambda sample: int(sample["doc_id"]))
    scores = [[float(score) for score, _ in sample["filtered_resps"]] for sample in samples]
    assert scores == [pytest.approx(pair, abs=1e-4) for pair in expected]
    right = sum(good > bad for good, bad in expected)
    assert 0 < right < len(PAIRS)  # otherwise this would show little
    assert found["results"]["pairs"]["acc,none"] == pytest.approx(right / len(PAIRS))


def test_continuations_as_the_scorer_has_them() -> None:
    """The border in white space, before punctuation, and within don't; with and without <END>."""
    model = tiny("dtg")
    pairs = [
        ("The dog", " saw a cat."),
        ("The dog ", "ran"),
        ("A dog saw a cat", "."),
        ("", " Mice run."),
        ("I do", "n't"),
    ]
    for end in (True, False):
        found = HarnessModel(model, beam=20, end=end).loglikelihood(asked("loglikelihood", *pairs), disable_tqdm=True)
        prefixes, stimuli = zip(*pairs, strict=True)
        expected = Scorer(model, beam=20).conditional_score(prefixes, stimuli, "", total, eos_token=end)
        assert [score for score, _ in found] == pytest.approx(expected, abs=1e-9)


def test_a_word_on_the_border_counts_to_the_context(caplog: pytest.LogCaptureFixture) -> None:
    model = tiny("dtg")
    with caplog.at_level(logging.WARNING, logger="dtg.evaluation.harness"):
        found = HarnessModel(model, beam=20).loglikelihood(
            asked("loglikelihood", ("The dog", "s ran"), ("The dogs", " ran")), disable_tqdm=True
        )
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-9)  # "ran", after "The dogs"
    assert "1 of 2 continuations begin inside a word, which is not scored; the first is 'dogs'" in caplog.text
    with pytest.raises(InputError, match=r"no word begins in the continuation 's' of 'The dog'.*: The dogs\."):
        HarnessModel(model).loglikelihood(asked("loglikelihood", ("The dog", "s")))


def test_greedy_decoding_is_not_followed(caplog: pytest.LogCaptureFixture) -> None:
    """Where continuations are compared this does not matter; where there is one for each context, it is said."""
    model = HarnessModel(tiny("dtg"), beam=20)
    compared = [
        Instance("loglikelihood", {}, ("A dog", end), place, ("two", 0, 1))
        for place, end in enumerate((" ran.", " run."))
    ]
    assert [greedy for _, greedy in model.loglikelihood(compared, disable_tqdm=True)] == [False, False]
    assert not caplog.records
    model.loglikelihood([*compared, *asked("loglikelihood", ("A dog", " ran."))], disable_tqdm=True)
    assert "in made_up there is one continuation for each context" in caplog.text


def test_a_text_is_the_sum_of_its_sentences() -> None:
    model = tiny("dtg")
    text = "The dog\n\nA cat saw mice. The cat ran!\n"
    sentences = ["The dog", "A cat saw mice.", "The cat ran!"]
    requests = asked("loglikelihood_rolling", (text,), ("Mice run.",))
    found = HarnessModel(model, beam=20).loglikelihood_rolling(requests, disable_tqdm=True)
    whole = log_probabilities(model, [*sentences, "Mice run."], beam=20)
    assert found == pytest.approx([sum(whole[:3]), whole[3]], abs=1e-9)
    without = HarnessModel(model, beam=20, end=False).loglikelihood_rolling(requests, disable_tqdm=True)
    ends = [one.end_surprisal for one in model.surprisal(sentences, beam=20)]
    assert without[0] == pytest.approx(found[0] + sum(ends), abs=1e-9)
    with pytest.raises(InputError, match="has no words, so it cannot be scored"):
        HarnessModel(model).loglikelihood_rolling(asked("loglikelihood_rolling", (" \n",)))


def test_results_are_stored_as_they_come(tmp_path: Path) -> None:
    """Interrupted after two sentences; what the cache has then is not searched again."""
    requests = asked("loglikelihood", ("", "Mice run."), ("The dog", " ran."), ("", "A cat saw mice."))
    whole = HarnessModel(tiny("dtg"), beam=20).loglikelihood(requests, disable_tqdm=True)
    interrupted = HarnessModel(tiny("dtg"), beam=20)
    search = interrupted._searched

    def stop_after_two(*given: Any) -> Any:
        found = search(*given)
        yield from (next(found), next(found))
        raise KeyboardInterrupt

    interrupted._searched = stop_after_two  # type: ignore[assignment, method-assign]
    with pytest.raises(KeyboardInterrupt):
        CachingLM(interrupted, str(tmp_path / "cache.db")).loglikelihood(requests)
    again = HarnessModel(tiny("dtg"), beam=20)
    searched: list[str] = []
    search_again = again._searched

    def noted(sentences: Any, disable_tqdm: bool) -> Any:
        searched.extend(sentence.text for sentence in sentences)
        return search_again(sentences, disable_tqdm)

    again._searched = noted  # type: ignore[method-assign]
    found = CachingLM(again, str(tmp_path / "cache.db")).loglikelihood(requests)
    assert searched == ["A cat saw mice."]
    assert [score for score, _ in found] == pytest.approx([score for score, _ in whole], abs=1e-9)


def test_what_is_not_supported() -> None:
    with pytest.raises(InputError, match=r"the task made_up has the model write an answer to a text"):
        HarnessModel(tiny("dtg")).generate_until(asked("generate_until", ("A dog", {"until": ["\n"]})))
    with pytest.raises(InputError, match=r"a search has no option beams\. Known: beam, word_beam"):
        HarnessModel(tiny("dtg"), beams=50)
    with pytest.raises(InputError, match="'nowhere' is not a device"):
        HarnessModel("model", device="nowhere")
    with pytest.raises(InputError, match="end is 'no'; true or false is expected"):
        HarnessModel(tiny("dtg"), end="no")  # type: ignore[arg-type]


def test_a_mistake_is_answered_by_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness's command line is not run here: this is what happens to an error that comes out of it."""

    def asks_for_beams() -> None:
        HarnessModel(tiny("dtg"), beams=50)

    monkeypatch.setattr("lm_eval.__main__.cli_evaluate", asks_for_beams)
    with pytest.raises(SystemExit, match=r"^dtg: a search has no option beams\."):
        main()


@pytest.mark.slow
def test_the_documented_command(tmp_path: Path) -> None:
    """In a process of its own; most of the time goes into the harness's reading of its own tasks."""
    write_task(tmp_path)
    tiny("dtg").save(tmp_path / "model")
    model = ["--model", "dtg", "--device", "cpu", "--model_args", f"pretrained={tmp_path}/model,beam=20,word_beam=5"]
    task = ["--tasks", "pairs", "--include_path", str(tmp_path), "--output_path", str(tmp_path / "results")]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub")}
    command = [sys.executable, "-m", "dtg.evaluation.harness", *model, *task]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    (results,) = (tmp_path / "results").rglob("results_*.json")
    right = [good > bad for good, bad in log_probabilities_of_pairs(LanguageModel.load(tmp_path / "model"))]
    assert json.loads(results.read_text())["results"]["pairs"]["acc,none"] == pytest.approx(sum(right) / len(right))
