"""NaN and infinity in weights are one clear error, whatever is asked of a model; and options are checked by type and value."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
import torch

from dtg.errors import InputError, NotFiniteError
from dtg.language_model import LanguageModel
from tests.parser.parsers import small_parser
from tests.scoring.test_marginal import tiny

WORDS = ("the", "dog", "chased", "mice")
FAMILIES = ("dtg", "dtg-eager", "dtg-swift", "txl-trans", "txl-tokens", "plm", "tg", "pushdown")
LABELS: dict[str, Any] = {"labels": ("NP", "VP")}


def random_model(family: str) -> LanguageModel:
    return tiny(family, **(LABELS if family in ("plm", "tg", "pushdown") else {}))


def broken(model: LanguageModel, name: str, value: float) -> LanguageModel:
    """The model with one weight that is not a number."""
    found = deepcopy(model)
    with torch.no_grad():
        dict(found.decoder_model.named_parameters())[name].view(-1)[0] = value
    return found


ASKED: dict[str, Callable[[LanguageModel], object]] = {
    "surprisal": lambda model: model.surprisal([WORDS], beam=5),
    "step by step": lambda model: model.begin(5).step("the").step("dog").end().log_probability,
    "parse": lambda model: model.parse(WORDS, 5),
    "marginal": lambda model: model.marginal(WORDS, "beam", beam=5),
    "generate": lambda model: model.generate(2, max_words=5, beam=5),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("family", FAMILIES)
def test_weights_that_are_nan_are_one_clear_error(family: str, asked: str) -> None:
    model = random_model(family)
    if asked == "parse" and not model.has_trees:
        pytest.skip("it has no trees")
    first, second = "decoder.layers.0.feedforward.inner.weight", "decoder.layers.1.attention_norm.bias"
    for name, value in ((first, math.nan), (second, math.nan), (second, math.inf)):
        with pytest.raises(NotFiniteError, match=r"is NaN.*: check the model's weights for NaN or infinity"):
            ASKED[asked](broken(model, name, value))


@pytest.mark.parametrize("family", ["dtg", "txl-tokens"])
def test_the_output_head_too(family: str) -> None:
    model = random_model(family)
    for name in [name for name, _ in model.decoder_model.named_parameters() if name.startswith("head.")]:
        with pytest.raises(NotFiniteError):
            model_with = broken(model, name, math.nan)
            model_with.surprisal([WORDS], beam=5)


def test_a_parser_too() -> None:
    parser = small_parser()
    with torch.no_grad():
        parser.arcs.weight[0, 0] = math.nan
    for ask in (lambda: parser.parse(["a", "b"]), lambda: parser.sample(["a", "b"], 2)):
        with pytest.raises(NotFiniteError, match="the score of an arc is NaN: check the model's weights"):
            ask()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda model: model.surprisal([WORDS], constrained="no"), "constrained is 'no'; True, False or None"),
        (lambda model: model.surprisal([WORDS], ends="no"), "ends is 'no'; true or false is expected"),
        (lambda model: model.surprisal([WORDS], beam=True), "beam is True; a whole number of at least 1"),
        (lambda model: model.surprisal([WORDS], beam=2.0), r"beam is 2\.0; a whole number"),
        (lambda model: model.marginal(WORDS, proposal=[], trees=0), "trees is 0; a whole number of at least 1"),
        (lambda model: model.marginal(WORDS, trees="9"), "trees is '9'; a whole number"),
        (lambda model: model.rerank(WORDS, [], 0), "trees is 0; a whole number of at least 1"),
        (lambda model: model.rerank(WORDS, [], seed="x"), "seed is 'x'; a whole number is expected"),
        (lambda model: model.generate("2"), "count is '2'; a whole number"),
        (lambda model: model.generate(max_words=None), "max_words is None; a whole number"),
        (lambda model: model.generate(seed=2**70), f"seed is {2**70}; a whole number of at least 0 and below"),
        (lambda model: model.generate(seed=-1), "seed is -1; a whole number of at least 0"),
        (lambda model: model.generate(temperature=math.inf), "the temperature is inf; a number of at least 0"),
        (lambda model: model.generate(temperature="1"), "the temperature is '1'; a number of at least 0"),
        (lambda model: model.generate(top_k=True), "top_k is True; a whole number of at least 1"),
        (lambda model: model.generate(top_p=None), "top_p is None; a number is expected"),
    ],
)
def test_options_are_checked_by_type_and_value(ask: Callable[[LanguageModel], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask(random_model("dtg"))


def test_options_of_a_parser() -> None:
    parser = small_parser()
    for k in (True, 2.0, "2", None):
        with pytest.raises(InputError, match=r"k is .*a whole number is expected"):
            parser.k_best(["a", "b"], k)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="annotate is 'no'; true or false is expected"):
        parser.parse(["a", "b"], annotate="no")  # type: ignore[arg-type]
