"""Beams that adapt: exact with room for everything, the same whatever goes together, fixed where no share is too small."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
import torch

from dtg.errors import DtgError
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel
from dtg.search import expansion
from dtg.search.beam_search import BeamSearch
from dtg.search.options import ACCURACIES, BeamOptions
from dtg.search.prefix_trie import search_all
from dtg.search.pruning import NEXT_TO_BEST
from dtg.search.state import BeamState
from tests.model.test_model import tiny
from tests.phrase_twins import PHRASE_FAMILIES
from tests.search.brute import prefix_log_probability, sentence_log_probability
from tests.search.test_beam_search import random_pieces
from tests.search.test_phrase_search import small

FAMILIES = ["dtg", "dtg-eager", "dtg-swift", "txl-trans", "txl-tokens", *PHRASE_FAMILIES]
WIDE: dict[str, Any] = {"beam": 10_000, "word_beam": 10_000}
SHARES: dict[str, Any] = {"smallest_share": 0.03}
Pieces = list[list[int]]


def of_family(family: str, seed: int = 0) -> DecoderModel:
    return small(family) if family in PHRASE_FAMILIES else tiny(family, seed=seed)


def states(model: DecoderModel, pieces: Pieces, options: BeamOptions) -> list[BeamState]:
    """The states after 0, 1, 2, ... words, one sentence at a time."""
    search = BeamSearch(model, options)
    found = [BeamState(search, search.begin())]
    for word in pieces:
        found.append(found[-1].step_ids(word))
    return found


def numbers(found: list[BeamState]) -> list[float]:
    """Everything that is reported."""
    of_words = [
        [state.surprisal, state.lexical, state.structural, state.entropy, state.stack_depth, state.kept]
        for state in found[1:]
    ]
    return [*(value for values in of_words for value in values), found[-1].end().log_probability]


@pytest.mark.parametrize("family", FAMILIES)
def test_with_tiny_shares_it_equals_brute_force(family: str) -> None:
    model = of_family(family)
    pieces = [[1], [2, 9], [3]]
    found = states(model, pieces, BeamOptions(**WIDE, smallest_share=1e-200))
    for number in range(1, len(pieces) + 1):
        if family not in PHRASE_FAMILIES:
            expected = prefix_log_probability(model, pieces[:number], True)
            assert found[number].log_probability == pytest.approx(expected, rel=1e-10)
        assert found[number].kept == pytest.approx(1.0)
    assert numbers(found) == pytest.approx(numbers(states(model, pieces, BeamOptions(**WIDE))), rel=1e-10, abs=1e-12)
    if family not in PHRASE_FAMILIES:
        expected = sentence_log_probability(model, pieces, True)
        assert found[-1].end().log_probability == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize("family", FAMILIES)
def test_with_tiny_shares_it_has_room_for_as_many_as_a_fixed_beam(family: str, width: int) -> None:
    model = of_family(family)
    pieces = [[1], [2, 9], [3], [1], [4]]
    widths: dict[str, Any] = {"beam": width, "word_beam": width}
    adaptive = states(model, pieces, BeamOptions(**widths, smallest_share=1e-200))
    fixed = states(model, pieces, BeamOptions(**widths))
    for one, other in zip(adaptive[1:], fixed[1:], strict=True):
        assert one.surprisal == pytest.approx(other.surprisal, rel=1e-10)
        assert one.kept <= 1.0 + 1e-12
    assert adaptive[-1].end().log_probability == pytest.approx(fixed[-1].end().log_probability, rel=1e-10)


@pytest.mark.parametrize("family", ["dtg", "dtg-eager", "tg"])
def test_a_share_of_nothing_is_a_fixed_beam(family: str) -> None:
    """The number of hypotheses alone decides, if no share is too small."""
    model = of_family(family)
    pieces = random_pieces(6, random.Random(1))
    limits: dict[str, Any] = {"beam": 12, "word_beam": 4}
    fixed = numbers(states(model, pieces, BeamOptions(**limits)))
    assert numbers(states(model, pieces, BeamOptions(**limits, smallest_share=0.0))) == fixed
    without_kept = [value for place, value in enumerate(fixed) if place % 6 != 5]
    found = numbers(states(model, pieces, BeamOptions(**limits, smallest_share=1e-300)))
    assert [value for place, value in enumerate(found) if place % 6 != 5] == pytest.approx(without_kept, rel=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("limits", [WIDE, {"beam": 9, "word_beam": 5}], ids=["wide", "narrow"])
def test_neither_neighbours_nor_pass_sizes_matter(
    family: str, limits: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that is reported, `kept` included."""
    model = of_family(family)
    base = random_pieces(4, random.Random(2))
    given = [base, random_pieces(3, random.Random(3)), [*base[:2], *random_pieces(2, random.Random(4))], base[:2]]
    options = BeamOptions(**limits, **SHARES)
    alone = [states(model, pieces, options) for pieces in given]
    sentences = [[tuple(word) for word in pieces] for pieces in given]
    for count in (1, 3, 50):
        for found, expected in zip(search_all(BeamSearch(model, options), sentences, count), alone, strict=True):
            together = [value for statistics in found.words for value in statistics[1:]]
            assert [*together, found.log_probability] == pytest.approx(numbers(expected), rel=1e-9, abs=1e-11)

    def all_of_them(agenda: expansion.Agenda, open_: torch.Tensor, *_: object) -> torch.Tensor:
        return open_

    def one_by_one(agenda: expansion.Agenda, open_: torch.Tensor, *_: object) -> torch.Tensor:
        return open_[agenda.score[open_].argmax()][None]

    def worst_first(agenda: expansion.Agenda, open_: torch.Tensor, *_: object) -> torch.Tensor:
        return open_[agenda.score[open_].argmin()][None]

    for choose in (all_of_them, one_by_one, worst_first):
        monkeypatch.setattr(expansion, "choose", choose)
        for pieces, expected in zip(given[:2], alone, strict=False):
            assert numbers(states(model, pieces, options)) == pytest.approx(numbers(expected), rel=1e-9, abs=1e-11)


def test_it_prunes_and_is_a_lower_bound() -> None:
    pruned_some = False
    for seed in range(6):
        model = tiny("dtg", seed=seed)
        pieces = random_pieces(6, random.Random(seed))
        whole = states(model, pieces, BeamOptions(**WIDE))
        sizes = []
        for share in (0.3, 0.03, 0.003):
            some = states(model, pieces, BeamOptions(**WIDE, smallest_share=share))
            for pruned, full in zip(some, whole, strict=True):
                assert pruned.log_probability <= full.log_probability + 1e-12
                assert 0.0 < pruned.kept <= 1.0 + 1e-12
            sizes.append(len(some[-1].trees(None)))
            pruned_some |= some[-1].kept < 0.99
        assert sizes == sorted(sizes)
        assert sizes[-1] < len(whole[-1].trees(None))
    assert pruned_some


def least(scores: list[float], best: float, share: float) -> float:
    """What must be exceeded, from the definition: a share of all, as far below `best` as below the best of `scores`."""
    together = math.log(math.fsum(math.exp(score - max(scores)) for score in scores))
    return best + min(together + math.log(share), math.log(NEXT_TO_BEST))


@pytest.mark.parametrize("share", [0.001, 0.01, 0.05])
def test_what_is_kept_is_what_exceeds_the_share(share: float) -> None:
    """One word after a search without pruning, from every candidate and every score, in plain numbers."""
    model = tiny("dtg", seed=3)
    *before_words, last = random_pieces(5, random.Random(5))
    before = states(model, [*before_words, [4]], BeamOptions(**WIDE))[-1]
    every = before._candidates
    hypotheses, candidates = before._beams.score.tolist(), every.next_score.tolist()
    bar = least(hypotheses, max(candidates), share)
    chosen = torch.tensor([place for place, score in enumerate(candidates) if score > bar])
    assert 0 < len(chosen) < len(candidates)
    evaluator, piece = before.search.evaluator, torch.full((len(chosen),), last[0])
    with torch.inference_mode():
        features = every.lanes.states.features()[chosen]
        of_word = evaluator.piece_log_probability(every.hidden[chosen], features, piece)
    scores = (every.score[chosen] + of_word).tolist()
    expected = sorted((score for score in scores if score > least(scores, max(scores), share)), reverse=True)
    search = BeamSearch(model, BeamOptions(**WIDE, smallest_share=share))
    found = BeamState(search, before._beams, before.words, before, before.subwords).step_ids(last[:1])
    assert found._beams.score.tolist() == pytest.approx(expected, rel=1e-12)


def test_what_users_may_ask_for() -> None:
    default = BeamOptions.of()
    assert default == BeamOptions.of(accuracy="default") and default.is_adaptive
    assert default.settings()["accuracy"] == "default" and default.settings()["smallest_share"] > 0
    assert default.title == f"accuracy default, beam up to {default.beam:,}"
    fixed = BeamOptions.of(beam=300, fast_track=0, word_beam=None)
    assert fixed == BeamOptions() and not fixed.is_adaptive
    assert fixed.settings() == {"beam": 300, "word_beam": 100}
    assert BeamOptions.of(word_beam=50) == BeamOptions(beam=300, word_beam=50)
    assert BeamOptions.of(beam=1000, smallest_share=1e-3).title == "share 0.001, beam up to 1,000"
    assert [ACCURACIES[name]["smallest_share"] for name in ("fast", "default", "high")] == sorted(
        (ACCURACIES[name]["smallest_share"] for name in ACCURACIES), reverse=True
    )
    for options, message in (
        ({"accuracy": "highest"}, "no choice for accuracy called 'highest'. Known: fast, default, high"),
        ({"accuracy": "fast", "beam": 5}, "a beam adapts, or has a fixed width"),
        ({"beam": 5, "smallest_share": 1.5}, "smallest_share is 1.5; a number from 0"),
        ({"beam": 5, "smallest_share": 0.1, "fast_track": 2}, "fast_track is about a beam of fixed width"),
        ({"width": 5}, "a search has no option width"),
    ):
        with pytest.raises(DtgError, match=message):
            BeamOptions.of(**options)


def test_every_method_takes_it() -> None:
    model = LanguageModel(tiny("dtg"))
    assert model.begin().search.options == BeamOptions.of()
    assert model.begin(accuracy="fast").search.options.accuracy == "fast"
    assert model.begin(20).search.options == BeamOptions(beam=20)
