"""Our scorer beside minicons itself, on a model that both can hold.

minicons takes any module that gives `.logits` for token ids. `txl-tokens` is such a model: it predicts a piece, or `<END>`,
from the pieces before it. (Models with trees are not: what they predict depends on a tree, and minicons knows none.) So
minicons scores its pieces here, and we score its words; a word is the sum of its pieces. The module is made of our model,
for transformers has none that computes the same: Transformer-XL is no longer among its models.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer as FastTokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from torch import Tensor
from transformers import PreTrainedTokenizerFast
from transformers.modeling_outputs import CausalLMOutput

from dtg.scorer import Scorer
from dtg.search.evaluator import Evaluator
from dtg.search.options import BeamOptions
from dtg.transitions.table import FINISH, GENERATE
from tests.scoring.test_marginal import tiny, tokenizer
from tests.scoring.test_scorer import total

minicons = pytest.importorskip("minicons.scorer", reason="minicons is not installed; pip install minicons")

SENTENCES = (("the", "dog", "chased", "mice"), ("a", "cat", "saw", "the", "big", "dog", "quickly"), ("chased",))
CLOSE = 1e-6  # relative: minicons divides by a log 2 in single precision
OPTIONS: tuple[dict[str, bool], ...] = (
    {},
    {"surprisal": True},
    {"base_two": True},
    {"surprisal": True, "base_two": True},
)


class PiecesModel(torch.nn.Module):
    """`txl-tokens` as Hugging Face has causal models; the token behind the last piece is `<END>`."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> CausalLMOutput:
        """(batch, length, pieces + 1); every sentence begins with `<s>`, which is our `<ROOT>`."""
        return CausalLMOutput(logits=torch.stack([self.following(ids.tolist()) for ids in input_ids]))

    def following(self, ids: list[int]) -> Tensor:
        """(length, pieces + 1) log-probabilities of what comes after each token, one token at a time."""
        evaluator = Evaluator(tiny("txl-tokens").decoder_model, BeamOptions(beam=1))
        lanes, cache, hidden = evaluator.begin()
        assert ids[0] == evaluator.model.root
        found = []
        for following in [*ids[1:], tokenizer().size]:
            features = lanes.states.features()
            choices, _ = evaluator.choices(lanes, cache, hidden, -1)
            pieces = choices[:, GENERATE, None] + evaluator.pieces(hidden, features)
            found.append(torch.cat([pieces, choices[:, FINISH, None]], dim=1)[0])
            if following >= tokenizer().size:  # <END>, or padding: nothing is asked of what comes after
                break
            piece = torch.tensor([following])
            action = torch.full_like(piece, GENERATE)
            hidden = evaluator.act(lanes, cache, hidden, action, piece, starts_word=tokenizer().starts_word[piece])
        return torch.cat([torch.stack(found), torch.zeros(len(ids) - len(found), tokenizer().size + 1).double()])


@cache
def theirs() -> Any:
    """minicons' scorer of this model. A text is written in pieces, with spaces between them."""
    vocabulary = {tokenizer().piece(number): number for number in range(tokenizer().size)}
    model = WordLevel({**vocabulary, "<END>": tokenizer().size}, unk_token="<unk>")
    pieces = FastTokenizer(model)
    pieces.pre_tokenizer = WhitespaceSplit()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=pieces, bos_token="<s>", eos_token="<END>", pad_token="<END>", unk_token="<unk>"
    )
    return minicons.IncrementalLMScorer(PiecesModel(), "cpu", tokenizer=fast)


def in_pieces(words: tuple[str, ...]) -> str:
    return " ".join(tokenizer().piece(piece) for word in words for piece in tokenizer().encode(word))


def by_words(pairs: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Pieces and their scores, summed up by words."""
    found: list[tuple[str, float]] = []
    for piece, score in pairs:
        if piece.startswith("▁") or piece == "<END>":
            found.append((piece.removeprefix("▁"), score))
        else:
            found[-1] = (found[-1][0] + piece, found[-1][1] + score)
    return found


def types(value: Any) -> Any:
    """What a result is made of, down to its values."""
    return [type(value), *(map(types, value))] if isinstance(value, (list, tuple)) else type(value)


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "+".join(options) or "log")
def test_token_scores(options: dict[str, bool]) -> None:
    ours = Scorer(tiny("txl-tokens")).token_score(SENTENCES, eos_token=True, **options)
    pieces = theirs().token_score([in_pieces(words) for words in SENTENCES], bos_token=True, eos_token=True, **options)
    assert all(scored[0] == ("<s>", 0.0) for scored in pieces)  # what minicons gives a first token
    expected = [by_words(scored[1:]) for scored in pieces]
    assert types(ours) == types(expected)
    assert [[word for word, _ in scored] for scored in ours] == [[word for word, _ in scored] for scored in expected]
    for our, their in zip(ours, expected, strict=True):
        assert [score for _, score in our] == pytest.approx([score for _, score in their], rel=CLOSE)


def test_probabilities() -> None:
    """Of words that are one piece each: probabilities do not add up."""
    words = tuple(
        word for word in "the dog chased a big cat that saw mice".split() if len(tokenizer().encode(word)) == 1
    )
    assert len(words) > 2
    (ours,) = Scorer(tiny("txl-tokens")).token_score([words], prob=True)
    (scored,) = theirs().token_score(in_pieces(words), prob=True, bos_token=True)
    assert [score for _, score in ours] == pytest.approx([score for _, score in scored[1:]], rel=CLOSE)


@pytest.mark.parametrize("base_two", [False, True])
@pytest.mark.parametrize("eos_token", [False, True])
def test_sequence_scores(base_two: bool, eos_token: bool) -> None:
    scorer, texts = Scorer(tiny("txl-tokens")), [in_pieces(words) for words in SENTENCES]
    for reduction in (total, lambda scores: -scores.sum(0).item()):
        ours = scorer.sequence_score(SENTENCES, reduction, base_two, eos_token=eos_token)
        expected = theirs().sequence_score(texts, reduction, base_two, bos_token=True, eos_token=eos_token)
        assert types(ours) == types(expected)
        assert ours == pytest.approx(expected, rel=CLOSE)
    ours = scorer.sequence_score(SENTENCES, base_two=base_two, eos_token=eos_token)  # the mean, of words or of pieces
    expected = theirs().sequence_score(texts, base_two=base_two, bos_token=True, eos_token=eos_token)
    words = [len(sentence) + eos_token for sentence in SENTENCES]
    pieces = [len(text.split()) + eos_token for text in texts]
    assert [score * count for score, count in zip(ours, words, strict=True)] == pytest.approx(
        [score * count for score, count in zip(expected, pieces, strict=True)], rel=CLOSE
    )


@pytest.mark.parametrize("eos_token", [False, True])
def test_conditional_scores(eos_token: bool) -> None:
    prefixes, stimuli = zip(*((words[:-2], words[-2:]) for words in SENTENCES[:2]), strict=True)
    ours = Scorer(tiny("txl-tokens")).conditional_score(prefixes, stimuli, reduction=total, eos_token=eos_token)
    expected = theirs().conditional_score(
        list(map(in_pieces, prefixes)),
        list(map(in_pieces, stimuli)),
        reduction=total,
        bos_token=True,
        eos_token=eos_token,
    )
    assert types(ours) == types(expected)
    assert ours == pytest.approx(expected, rel=CLOSE)


def test_a_text_alone_is_a_batch_of_one() -> None:
    scorer, text, begin = Scorer(tiny("txl-tokens")), in_pieces(SENTENCES[0]), {"bos_token": True}
    assert types(scorer.sequence_score("the dog")) == types(theirs().sequence_score(text, **begin))
    assert types(scorer.token_score("the dog")[0][:1]) == types(theirs().token_score(text, **begin)[0][:1])
    assert types(scorer.conditional_score("the dog", "ran")) == types(theirs().conditional_score(text, text, **begin))


@pytest.mark.parametrize("method", ["sequence_score", "token_score", "conditional_score"])
def test_arguments_are_in_the_same_places(method: str) -> None:
    """Ours are the first of theirs, with the same defaults; what is only by name is their keyword `eos_token`."""
    ours = [*inspect.signature(getattr(Scorer, method)).parameters.values()]
    their = [*inspect.signature(getattr(minicons.IncrementalLMScorer, method)).parameters.values()]
    placed = [parameter for parameter in ours if parameter.kind is not parameter.KEYWORD_ONLY]
    assert [parameter.name for parameter in placed] == [parameter.name for parameter in their[: len(placed)]]
    for our, other in zip(placed, their, strict=False):
        assert our.name == "reduction" or our.default == other.default
    assert [parameter.name for parameter in ours[len(placed) :]] == ["eos_token"]
    assert "eos_token" in inspect.signature(minicons.IncrementalLMScorer.prepare_text).parameters
