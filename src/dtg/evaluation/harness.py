"""Models of dtg in lm-evaluation-harness: log-probabilities of its requests, all of them searched together.

    python -m dtg.evaluation.harness --model dtg --model_args pretrained=RUN/best,beam=50 --tasks blimp --device cpu

is `lm_eval` with one more model. (The harness, at version 0.4.13, knows only its own models and those that have been
imported: it has no entry points.) After `import dtg.evaluation.harness`, `lm_eval.simple_evaluate(model="dtg", ...)` works too.

What is scored: context and continuation are one sentence, split into words as a whole. The score is log p of the words that
begin in the continuation, given those before them, and of `<END>` after them, unless `end=false`. With an empty context, as in
BLiMP, that is log p of the sentence, the number that `dtg evaluate blimp` compares. docs/elsewhere.md says what differs.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from dtg.errors import DtgError, InputError, MissingExtraError
from dtg.evaluation.models import EvaluatedModel
from dtg.evaluation.probability import Probability
from dtg.language_model import LanguageModel
from dtg.scoring.surprisal import SentenceSurprisal
from dtg.search.options import BeamOptions
from dtg.text.sentence import Sentence
from dtg.text.words import split_sentences

try:
    from lm_eval.api.model import LM
    from lm_eval.api.registry import register_model
    from tqdm import tqdm
except ImportError:
    raise MissingExtraError("lm-eval", "harness", "lm-evaluation-harness") from None

logger = logging.getLogger(__name__)


class HarnessModel(LM):  # type: ignore[misc]  # the harness has no types
    """What the harness asks of a model. `search` are options of the beam search, such as `accuracy` or `word_beam`."""

    def __init__(
        self,
        pretrained: str | LanguageModel,
        beam: int | None = None,
        end: bool = True,
        device: str = "cpu",
        batch_size: object = None,  # the harness always passes these two; the search knows how much fits together
        max_batch_size: object = None,
        **search: Any,
    ) -> None:
        super().__init__()
        if not isinstance(end, bool):
            raise InputError(f"end is {end!r}; true or false is expected: whether the end of the sentence is scored.")
        self.end = end
        options = BeamOptions.of(beam=beam, **search)
        self.model = EvaluatedModel.of(pretrained, device).model
        self.how = Probability(("beam",), options).for_model(self.model)

    def loglikelihood(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """log p(continuation | context) of each request's (context, continuation), in nats.

        The harness also asks whether greedy decoding would give the continuation. That is answered with False: a
        log-probability is a sum over trees, greedy decoding follows one, and the search does not find out.
        """
        continuations = [Continuation.of(*request.args, language=self.model.language) for request in requests]
        tell_cut_words(continuations)
        tell_single_continuations(requests)
        searched = self._searched([one.sentence for one in continuations], disable_tqdm)
        return [
            self._answer("loglikelihood", request, (self._log_probability(found, one.first), False))
            for request, one, found in zip(requests, continuations, searched, strict=True)
        ]

    def loglikelihood_rolling(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[float]:
        """log p of each request's text: the sum over its sentences, which know nothing of each other."""
        texts = [sentences_of(*request.args, language=self.model.language) for request in requests]
        searched = self._searched([sentence for text in texts for sentence in text], disable_tqdm)
        return [
            self._answer("loglikelihood_rolling", request, sum(self._log_probability(next(searched), 0) for _ in text))
            for request, text in zip(requests, texts, strict=True)
        ]

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> NoReturn:
        """Not supported: these models make up one sentence, from its beginning to its `<END>`, in words set apart."""
        tasks = ", ".join(sorted({str(request.task_name) for request in requests}))
        raise InputError(
            f"the task {tasks} has the model write an answer to a text. These models read and write single sentences, so "
            "there is nothing to compare. Choose tasks that compare log-probabilities; dtg generate writes sentences."
        )

    def _searched(self, sentences: Sequence[Sentence], disable_tqdm: bool) -> Iterator[SentenceSurprisal]:
        """In order. Sentences that begin alike, as the choices of one question do, are searched together."""
        found = self.how.stream(self.model, sentences)
        return iter(tqdm(found, "Searching sentences", len(sentences), disable=disable_tqdm))

    def _log_probability(self, found: SentenceSurprisal, first: int) -> float:
        """Of the words from the `first` one on."""
        return -float(found.surprisals[first:].sum()) - self.end * found.end_surprisal

    def _answer(self, method: str, request: Any, answer: Any) -> Any:
        """Stored as soon as it is there, so that an interrupted run of the harness that has a cache resumes where it was."""
        self.cache_hook.add_partial(method, request.args, answer)
        return answer


@dataclass(frozen=True, slots=True)
class Continuation:
    """A sentence of which the words from `first` on are scored; `cut` is a word that stands on the border, if one does."""

    sentence: Sentence
    first: int
    cut: str | None

    @classmethod
    def of(cls, context: str, continuation: str, *, language: str) -> Continuation:
        sentence = Sentence.of_text(context + continuation, language)
        first = sum(start < len(context) for start in sentence.starts)
        if first == len(sentence):
            raise InputError(
                f"no word begins in the continuation {continuation!r} of {context!r}, so it cannot be scored. Words are "
                f"found in both together: {' '.join(sentence.words)}."
            )
        is_cut = first > 0 and sentence.ends[first - 1] > len(context)
        return cls(sentence, first, sentence.words[first - 1] if is_cut else None)


def sentences_of(text: str, *, language: str) -> list[Sentence]:
    """A text's sentences; a line's end is always the end of one."""
    sentences = (sentence for line in text.splitlines() for sentence in split_sentences(line, language))
    found = [Sentence.of_text(sentence, language) for sentence in sentences]
    if not found:
        raise InputError(f"the text {text!r} has no words, so it cannot be scored.")
    return found


def tell_cut_words(continuations: Sequence[Continuation]) -> None:
    """Warn of continuations that begin inside a word: the word counts to the context, and is not scored."""
    cut = [one for one in continuations if one.cut is not None]
    if cut:
        logger.warning(
            "%d of %d continuations begin inside a word, which is not scored; the first is %r in %r.",
            *(len(cut), len(continuations), cut[0].cut, cut[0].sentence.text),
        )


def tell_single_continuations(requests: Sequence[Any]) -> None:
    """Warn of tasks that do not compare continuations, but ask for the most probable one."""
    comparing = {request.task_name for request in requests if request.idx > 0}
    if others := sorted({str(request.task_name) for request in requests if request.task_name not in comparing}):
        logger.warning(
            "in %s there is one continuation for each context. Metrics such as perplexity hold, but acc and exact_match "
            "ask what greedy decoding gives, which is not computed here: they are 0 whatever the model.",
            ", ".join(others),
        )


def main() -> None:
    """The harness's own command line, in a process where the model is known."""
    from lm_eval.__main__ import cli_evaluate

    try:
        cli_evaluate()
    except DtgError as error:
        sys.exit(f"dtg: {error}")


if __name__ == "__main__":
    from dtg.evaluation import harness  # under its own name, which is what results in a cache are stored under

    harness.main()
else:
    register_model("dtg")(HarnessModel)
