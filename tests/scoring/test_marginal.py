"""log p(x) in every way it can be asked for, against sums over trees written out here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from dtg.errors import InputError, NonProjectiveError, NotFiniteError, TooFarError, UnknownNameError
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.scorer import Scorer
from dtg.scoring import marginals, tree_scores
from dtg.scoring.marginal import Marginal
from dtg.scoring.marginals import AUTO_TREES
from dtg.scoring.proposal import Drawn, Draws
from dtg.scoring.tree_scores import score_trees
from dtg.search.options import BeamOptions
from dtg.text import Tokenizer
from dtg.trees import DependencyTree
from dtg.trees.kinds import Tree
from tests.dependency import as_dependency
from tests.twins import every_projective_tree

SENTENCE = ("the", "dog", "chased", "mice", "quickly")
WITH_TREES = ["dtg", "dtg-eager", "dtg-swift", "txl-trans"]


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.train("the dog chased a big cat that saw mice run quickly".split() * 3, 290)


@cache
def tiny(family: str, **settings: Any) -> LanguageModel:
    """A random model in float64, with larger weights than a fresh one so that trees differ."""
    sizes: dict[str, Any] = {"layers": 2, "width": 8, "attention_heads": 2, "head_width": 4, "feedforward": 10}
    config = ModelConfig(family=family, vocabulary=tokenizer().size, **sizes, **settings)
    model = DecoderModel.create(config, tokenizer(), seed=0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.5 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    return LanguageModel(model.double().eval())


@cache
def scores(model: LanguageModel, words: tuple[str, ...], constrained: bool = True) -> dict[tuple[int, ...], float]:
    """log p(x, y) of every tree, one at a time."""
    pieces = tokenizer().encode_all(words)
    return {
        heads: model.decoder_model.score_ids(pieces, heads, constrained) for heads in every_projective_tree(len(words))
    }


def log_sum(values: Sequence[float]) -> float:
    return math.log(sum(map(math.exp, values)))


class StandInSearch:
    """A stand-in for beam search: it knows all trees in advance and ends with the best `beam` of them.

    `scored` says how many trees each call of `score_trees` was for, which scores them as ever.
    """

    def __init__(self, model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
        self.model = model
        self.options = BeamOptions()
        self.words: tuple[str, ...] = ()
        self.scored: list[int] = []
        monkeypatch.setattr(marginals, "BeamSearch", self.with_options)
        monkeypatch.setattr(marginals, "BeamState", lambda search, beams: search)
        monkeypatch.setattr(tree_scores, "score_trees", self.score)

    def score(self, model: DecoderModel, trees: Sequence[Tree], constrained: bool | None = None) -> list[float]:
        self.scored.append(len(trees))
        return score_trees(model, trees, constrained)

    def with_options(self, model: DecoderModel, options: BeamOptions) -> StandInSearch:
        assert model is self.model.decoder_model
        self.options = options
        return self

    def begin(self) -> None:
        self.words = ()

    def step(self, word: str) -> StandInSearch:
        self.words = (*self.words, word)
        return self

    def end(self) -> SimpleNamespace:
        best = sorted(scores(self.model, self.words).items(), key=lambda pair: -pair[1])[: self.options.beam]
        trees = [SimpleNamespace(tree=DependencyTree(self.words, h), log_probability=s) for h, s in best]
        return SimpleNamespace(log_probability=log_sum([score for _, score in best]), trees=lambda count: trees[:count])


def searching(
    monkeypatch: pytest.MonkeyPatch, family: str = "dtg", **settings: Any
) -> tuple[LanguageModel, StandInSearch]:
    """A model, and what it searches with."""
    model = tiny(family, **settings)
    return model, StandInSearch(model, monkeypatch)


@dataclass
class Tempered:
    """A proposal for tests: q is p(y | x) of a model to the power of `sharpness`, so 1 is perfect and 0 uniform."""

    model: LanguageModel
    sharpness: float = 1.0
    drawn: Drawn = "independently"

    def propose(self, words: Sequence[str], count: int, generator: torch.Generator) -> Draws:
        found = scores(self.model, tuple(words))
        q = torch.softmax(self.sharpness * torch.tensor(list(found.values()), dtype=torch.float64), 0)
        replacement = self.drawn == "independently"
        places = torch.multinomial(q, count if replacement else min(count, len(q)), replacement, generator=generator)
        trees = [DependencyTree(tuple(words), heads) for heads in found]
        return Draws(tuple(trees[i] for i in places.tolist()), tuple(q.log()[places].tolist()), self.drawn)


@pytest.mark.parametrize("family", WITH_TREES)
@pytest.mark.parametrize("head", ["factored", "joint"])
@pytest.mark.parametrize("constrained", [True, False])
def test_exact_is_the_sum_over_every_tree(family: str, head: str, constrained: bool) -> None:
    model = tiny(family, head=head)
    for count in range(1, 5):
        found = model.marginal(SENTENCE[:count], "exact", constrained=constrained)
        every = scores(model, SENTENCE[:count], constrained)
        assert found.log_probability == pytest.approx(log_sum(list(every.values())), abs=1e-11)
        assert (found.kind, found.trees, found.is_bound) == ("exact", len(every), False)
        assert found.constrained == constrained
        assert found.lower_bound == found.log_probability


def test_exact_for_five_words() -> None:
    found = tiny("dtg").marginal(SENTENCE, "exact")
    assert found.trees == 143
    assert found.log_probability == pytest.approx(log_sum(list(scores(tiny("dtg"), SENTENCE).values())), abs=1e-11)


def test_the_models_choice_of_constraints_is_taken_and_recorded() -> None:
    model = tiny("dtg", constrained=False)
    found = model.marginal(SENTENCE, "exact")
    assert not found.constrained
    assert found == model.marginal(SENTENCE, "exact", constrained=False)
    assert found.log_probability < model.marginal(SENTENCE, "exact", constrained=True).log_probability


def test_texts_are_split_and_words_are_not() -> None:
    model = tiny("dtg")
    assert model.marginal("the dog ran.") == model.marginal(["the", "dog", "ran", "."])
    assert model.marginal(["the dog", "ran."]).trees == 2


@pytest.mark.parametrize("how", ["auto", "exact", "beam", "proposal", "estimate", "combined"])
def test_a_family_without_trees_is_always_exact(how: Any) -> None:
    model = tiny("txl-tokens")
    words = SENTENCE * 6
    found = model.marginal(words, how, word_beam=3)
    chain = DependencyTree(words, tuple(range(len(words))))
    assert found.log_probability == pytest.approx(model.score([chain])[0], abs=1e-11)
    assert (found.kind, found.trees) == ("exact", 0)
    assert str(found).endswith("nats (exact: one pass, txl-tokens has no trees)")


@pytest.mark.parametrize("family", WITH_TREES)
def test_a_beam_is_a_lower_bound(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, search = searching(monkeypatch, family)
    exact = model.marginal(SENTENCE, "exact")
    below = -math.inf
    for beam in (1, 10, 50):
        found = model.marginal(SENTENCE, "beam", beam=beam, word_beam=7)
        assert below < found.log_probability < exact.log_probability
        assert (found.kind, found.trees, found.how, found.is_bound) == (
            "lower bound",
            beam,
            f"beam {beam}, word beam 7",
            True,
        )
        assert (search.options.beam, search.options.word_beam, search.options.constrained) == (beam, 7, None)
        below = found.log_probability
    all_of_them = model.marginal(SENTENCE, "beam", beam=143)
    assert all_of_them.log_probability == pytest.approx(exact.log_probability, abs=1e-11)


@pytest.mark.parametrize("family", WITH_TREES)
def test_the_real_search(family: str) -> None:
    model = tiny(family)
    exact = model.marginal(SENTENCE, "exact")
    whole = model.marginal(SENTENCE, "beam", beam=143, word_beam=143)
    assert whole.log_probability == pytest.approx(exact.log_probability, abs=1e-9)
    assert whole.trees == 143
    pruned = model.marginal(SENTENCE, "beam", beam=10)
    assert pruned.log_probability < exact.log_probability
    assert pruned.trees < 143
    trees = [DependencyTree(SENTENCE, heads) for heads in every_projective_tree(5)]
    found = model.marginal(SENTENCE, "combined", proposal=trees, beam=10)
    assert found.log_probability == pytest.approx(exact.log_probability, abs=1e-9)
    assert found.trees == 143
    derivations = model.marginal(SENTENCE[:4], "beam", beam=500, word_beam=500, derivations="all")
    assert (derivations.trees, derivations.derivations) == (30, "all")


def test_a_list_of_trees_gives_a_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    model, search = searching(monkeypatch)
    every = scores(search.model, SENTENCE)
    heads = list(every)[::9]
    trees = [DependencyTree(SENTENCE, some) for some in heads]
    found = model.marginal(SENTENCE, proposal=trees)
    assert found.log_probability == pytest.approx(log_sum([every[some] for some in heads]), abs=1e-11)
    assert (found.kind, found.trees, found.draws) == ("lower bound", len(heads), len(heads))
    assert str(found).endswith(f"nats (lower bound: {len(heads)} proposal trees)")
    repeated = model.marginal(SENTENCE, "proposal", proposal=[*trees, *trees[3:], trees[0]], trees=5)
    assert repeated.log_probability == found.log_probability
    assert (repeated.trees, repeated.draws) == (len(heads), 2 * len(heads) - 2)
    assert str(repeated).endswith(f"{2 * len(heads) - 2} proposal trees; {len(heads)} distinct trees)")
    assert search.scored == [len(heads), len(heads)]  # all trees in one call, each once


def test_labels_do_not_make_trees_distinct() -> None:
    model = tiny("dtg")
    plain, labelled = DependencyTree(("a", "b"), (0, 1)), DependencyTree(("a", "b"), (0, 1), ("root", "obj"))
    assert model.marginal(("a", "b"), proposal=[plain, labelled]).trees == 1


def test_trees_from_something_that_draws() -> None:
    model = tiny("dtg")
    proposal = Tempered(model, 0.5, "without replacement")
    found = model.marginal(SENTENCE, proposal=proposal, trees=40)
    assert (found.trees, found.draws) == (40, 40)
    assert found.log_probability < model.marginal(SENTENCE).log_probability
    assert found == model.marginal(SENTENCE, proposal=proposal, trees=40)  # without a generator: seed 0, each time
    assert found == model.marginal(SENTENCE, proposal=proposal, trees=40, generator=torch.Generator().manual_seed(0))
    assert found != model.marginal(SENTENCE, proposal=proposal, trees=40, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("drawn", ["independently", "without replacement"])
def test_a_perfect_proposal_gives_log_p_itself(drawn: Drawn) -> None:
    """If q(y) is p(y | x), every p/q is p(x): a few draws are enough, and the estimate knows that it is right."""
    model = tiny("dtg")
    exact = model.marginal(SENTENCE).log_probability
    found = model.marginal(SENTENCE, "estimate", proposal=Tempered(model, 1.0, drawn), trees=5)
    assert found.log_probability == pytest.approx(exact, abs=1e-9)
    assert found.standard_error == pytest.approx(0.0, abs=1e-9)
    assert (found.kind, found.draws, found.is_bound) == ("estimate", 5, False)
    assert found.lower_bound < exact


@pytest.mark.parametrize("drawn", ["independently", "without replacement"])
def test_an_estimate_says_how_far_off_it_may_be(drawn: Drawn) -> None:
    """A fixed seed: the estimate is within a few of its own standard errors, and tells what it is made of."""
    model = tiny("dtg")
    exact = model.marginal(SENTENCE).log_probability
    found = model.marginal(SENTENCE, "estimate", proposal=Tempered(model, 0.7, drawn), trees=100)
    assert found.standard_error is not None
    assert found.effective_sample_size is not None
    assert 0 < abs(found.log_probability - exact) < 4 * found.standard_error < 1
    assert 1 < found.effective_sample_size < 100
    assert (found.trees == 100) == (drawn == "without replacement")
    assert found.lower_bound <= exact
    kind = "independent draws" if drawn == "independently" else "draws without replacement"
    assert f"(estimate: 100 {kind}; " in str(found)
    assert f"; at least {found.lower_bound:.4f})" in str(found)


def test_an_estimate_is_the_mean_of_p_over_q_of_the_draws_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeats count: each is a draw."""
    model, search = searching(monkeypatch)
    draws = Tempered(tiny("dtg"), 0.7).propose(SENTENCE, 50, torch.Generator().manual_seed(0))
    assert draws.log_q is not None
    every = scores(search.model, SENTENCE)
    weights = [math.exp(every[as_dependency(tree).heads] - q) for tree, q in zip(draws.trees, draws.log_q, strict=True)]
    found = model.marginal(SENTENCE, "estimate", proposal=Tempered(tiny("dtg"), 0.7), trees=50)
    assert found.log_probability == pytest.approx(math.log(sum(weights) / 50), abs=1e-11)
    assert found.effective_sample_size == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))
    assert search.scored == [found.trees]
    assert found.trees < 50 == found.draws


def test_combined_counts_every_tree_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model, search = searching(monkeypatch)
    every = scores(search.model, SENTENCE)
    best = sorted(every, key=every.__getitem__, reverse=True)
    proposed = best[5:25]  # of which five are in the beam
    trees = [DependencyTree(SENTENCE, heads) for heads in proposed]
    beam = model.marginal(SENTENCE, "beam", beam=10)
    proposal = model.marginal(SENTENCE, proposal=trees)
    search.scored.clear()
    found = model.marginal(SENTENCE, "combined", proposal=trees, beam=10)
    assert found.log_probability == pytest.approx(log_sum([every[heads] for heads in best[:25]]), abs=1e-11)
    assert found.log_probability > max(beam.log_probability, proposal.log_probability)
    assert found.log_probability < model.marginal(SENTENCE).log_probability
    assert (found.kind, found.trees, found.draws) == ("lower bound", 25, 20)
    assert search.scored[0] == 15  # the others have been scored by the search
    assert "(lower bound: beam 10, word beam 3 (10 trees) and 20 proposal trees; 25 distinct trees)" in str(found)
    again = model.marginal(SENTENCE, "combined", proposal=trees[:5], beam=10)
    assert again.log_probability == pytest.approx(beam.log_probability, abs=1e-11)


def test_trees_beyond_arc_swifts_limit_have_no_probability() -> None:
    model = tiny("dtg-swift", distance_limit=1)
    pieces = tokenizer().encode_all(SENTENCE)
    within, beyond = list[float](), list[tuple[int, ...]]()
    for heads in every_projective_tree(5):
        try:
            within.append(model.decoder_model.score_ids(pieces, heads, constrained=True))
        except TooFarError:
            beyond.append(heads)
    assert within
    assert beyond
    found = model.marginal(SENTENCE, "exact")
    assert found.log_probability == pytest.approx(log_sum(within), abs=1e-11)
    assert (found.kind, found.trees, found.out_of_reach, found.distance_limit) == (
        "exact",
        len(within),
        len(beyond),
        1,
    )
    assert str(found).endswith(f"all 143 trees; arcs of distance 1 at most; {len(beyond)} trees out of reach)")
    nothing = model.marginal(SENTENCE, proposal=[DependencyTree(SENTENCE, heads) for heads in beyond])
    assert (nothing.log_probability, nothing.trees, nothing.kind) == (-math.inf, 0, "lower bound")
    assert tiny("dtg-swift").marginal(SENTENCE).distance_limit == 20
    # A proposal that draws such trees: they are draws, so the estimate is of what the model can build.
    log_q = -math.log(143)
    trees = tuple(DependencyTree(SENTENCE, heads) for heads in every_projective_tree(5))
    everything = SimpleNamespace(propose=lambda *_: Draws(trees, (log_q,) * 143, "independently"))
    estimate = model.marginal(SENTENCE, "estimate", proposal=everything)
    assert estimate.log_probability == pytest.approx(found.log_probability, abs=1e-11)
    assert estimate.out_of_reach == len(beyond)


def test_what_auto_means(monkeypatch: pytest.MonkeyPatch) -> None:
    model, search = searching(monkeypatch)
    assert model.marginal(SENTENCE, word_beam=3).how == "enumeration of all 143 trees"
    assert model.marginal(SENTENCE[:1]).how == "there is one tree"
    assert model.marginal(SENTENCE, derivations="all", beam=4).how == "beam 4, word beam 1"
    assert (six := model.marginal((*SENTENCE, "run"))).kind == "exact" and six.trees == AUTO_TREES
    assert model.marginal(SENTENCE, proposal=[DependencyTree(SENTENCE, (0, 1, 2, 3, 4))]).trees == 1
    search.begin = lambda: pytest.fail("too long for the stand-in")  # type: ignore[method-assign]
    with pytest.raises(pytest.fail.Exception):
        model.marginal(SENTENCE * 2)


def test_all_derivations(monkeypatch: pytest.MonkeyPatch) -> None:
    model, search = searching(monkeypatch)
    found = model.marginal(SENTENCE, "beam", beam=10, derivations="all")
    assert search.options.derivations == found.derivations == "all"
    assert str(found).endswith("(lower bound: beam 10, word beam 3; 10 distinct trees; all derivations)")
    tree = DependencyTree(SENTENCE, (0, 1, 2, 3, 4))
    for how, proposal in (("exact", None), ("proposal", [tree]), ("combined", [tree]), ("auto", [tree])):
        with pytest.raises(
            InputError, match="one canonical derivation of each tree; derivations='all' can be used with"
        ):
            model.marginal(SENTENCE, cast(Any, how), derivations="all", proposal=proposal)


def test_how_it_reads() -> None:
    found = Marginal(
        log_probability=-23.45678,
        kind="exact",
        how="there is one tree",
        trees=1,
        lower_bound=-23.45678,
        constrained=True,
    )
    assert str(found) == "log p(x) = -23.4568 nats (exact: there is one tree)"
    found = Marginal(
        log_probability=-23.45678,
        kind="estimate",
        how="300 independent draws",
        trees=1200,
        draws=3000,
        lower_bound=-24.0,
        constrained=False,
        distance_limit=20,
        effective_sample_size=41.23,
        standard_error=0.1234,
    )
    assert str(found) == (
        "log p(x) ≈ -23.4568 ± 0.12 nats (estimate: 300 independent draws; 1,200 distinct trees; effective sample size 41.2;"
        " at least -24.0000; unconstrained; arcs of distance 20 at most)"
    )


TREE = DependencyTree(SENTENCE, (0, 1, 2, 3, 4))


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (SENTENCE * 2, {"how": "exact"}, "the sentence has 10 words, hence 690,690 trees; .* up to 25,000. Use how='beam'"),
        ((), {}, "there are no words"),
        (SENTENCE, {"how": "exact", "word_beam": 3}, "how='exact' does not search; word_beam can be used with how='beam'"),
        (SENTENCE, {"how": "exact", "proposal": [TREE]}, "how='exact' uses no proposal. Leave it out, or"),
        (SENTENCE, {"how": "beam", "proposal": [TREE]}, "how='beam' uses no proposal"),
        (SENTENCE, {"how": "combined"}, "how='combined' needs a proposal: a list of trees, or an object with"),
        (SENTENCE, {"how": "exact", "beam": 0}, "beam is 0; a whole number of at least 1"),
        (SENTENCE, {"proposal": []}, "the proposal gives no trees; at least one is needed"),
        (SENTENCE, {"proposal": "spacy"}, "a proposal is a list of trees, or an object with a method propose; this is str"),
        (SENTENCE, {"proposal": [(0, 1, 2, 3, 4)]}, "a proposal is a list of trees, .* this is list"),
        (SENTENCE, {"proposal": [TREE], "how": "estimate"}, "no estimate can be made from these 1 trees: their log q is not"),
        (SENTENCE[:4], {"proposal": [TREE]}, r"tree 1 of the proposal is of 'the dog chased mice quickly' \(5 words\); one"),
        (SENTENCE, {"proposal": Tempered(tiny("dtg")), "trees": 0}, "trees is 0; a whole number of at least 1 is expected"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(words: tuple[str, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tiny("dtg").marginal(words, **options)


def test_unknown_choices() -> None:
    with pytest.raises(UnknownNameError, match=r"no choice for how called 'sum'\. Known: auto, exact, beam, proposal"):
        tiny("dtg").marginal(SENTENCE, cast(Any, "sum"))
    with pytest.raises(UnknownNameError, match="no choice for derivations called 'some'"):
        tiny("dtg").marginal(SENTENCE, derivations=cast(Any, "some"))


@pytest.mark.parametrize("family", ["dtg", "txl-tokens"])
def test_constrained_is_checked_wherever_it_can_be_said(family: str) -> None:
    model, no = tiny(family), cast(Any, "no")
    refused: list[Callable[[], object]] = [
        lambda: model.marginal(SENTENCE, constrained=no),
        lambda: model.marginal(SENTENCE, "beam", constrained=no),
        lambda: model.marginal(SENTENCE, proposal=[TREE], constrained=no),
        lambda: model.surprisal([SENTENCE], constrained=no),
        lambda: model.score([TREE], constrained=no),
        lambda: model.score([], constrained=no),
        lambda: model.begin(constrained=no),
        lambda: model.parse(SENTENCE, constrained=no),
        lambda: Scorer(model, constrained=no).sequence_score([SENTENCE]),
    ]
    if model.has_trees:
        refused.append(lambda: model.rerank(SENTENCE, [TREE], constrained=no))
    for call in refused:
        with pytest.raises(InputError, match="constrained is 'no'; True, False or None"):
            call()


def test_keywords_that_are_not_known() -> None:
    """Python says so; and so does mypy, or else these comments are not needed."""
    model = tiny("dtg")
    for call in (
        lambda: model.begin(bean=10),  # type: ignore[call-arg]
        lambda: model.parse(SENTENCE, bean=10),  # type: ignore[call-arg]
        lambda: model.surprisal([SENTENCE], bean=10),  # type: ignore[call-arg]
        lambda: model.surprisal_stream([SENTENCE], bean=10),  # type: ignore[call-arg]
        lambda: model.marginal(SENTENCE, bean=10),  # type: ignore[call-arg]
        lambda: model.rerank(SENTENCE, [TREE], bean=10),  # type: ignore[call-arg]
        lambda: model.generate(1, bean=10),  # type: ignore[call-arg]
        lambda: model.score([TREE], bean=10),  # type: ignore[call-arg]
        lambda: Scorer(model, bean=10),  # type: ignore[call-arg]
    ):
        with pytest.raises(TypeError, match="unexpected keyword argument 'bean'"):
            call()


def test_trees_with_crossing_arcs_cannot_be_summed() -> None:
    with pytest.raises(NonProjectiveError, match="crossing arcs"):
        tiny("dtg").marginal(SENTENCE[:4], proposal=[DependencyTree(SENTENCE[:4], (3, 4, 0, 3))])


def test_draws_are_checked() -> None:
    other = DependencyTree(SENTENCE, (2, 0, 2, 3, 4))
    with pytest.raises(InputError, match="there are 2 trees but 1 values of log q"):
        Draws((TREE, other), (-1.0,))
    with pytest.raises(
        InputError, match="trees 1 and 3 are the same, but they are said to be drawn without replacement"
    ):
        Draws((TREE, other, TREE), drawn="without replacement")
    with pytest.raises(UnknownNameError, match="no choice for drawn called 'somehow'"):
        Draws((TREE,), drawn=cast(Any, "somehow"))
    best = Draws((TREE, other), (-1.0, -2.0), "not at random")
    proposal = SimpleNamespace(propose=lambda *_: best)
    assert tiny("dtg").marginal(SENTENCE, proposal=proposal).trees == 2
    with pytest.raises(InputError, match="no estimate can be made from these 2 trees: they were not drawn at random"):
        tiny("dtg").marginal(SENTENCE, "estimate", proposal=proposal)


def test_a_broken_model_is_noticed() -> None:
    broken = deepcopy(tiny("dtg").decoder_model)
    with torch.no_grad():
        broken.decoder.embedding.weight.fill_(math.nan)
    with pytest.raises(NotFiniteError, match=r"log p\(x, y\) of 'the dog' is NaN: check the model's weights"):
        LanguageModel(broken).marginal(SENTENCE[:2], "exact")
