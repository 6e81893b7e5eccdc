"""The searches behind the page: a further word costs one step, memory is bounded, and closed tabs leave nothing."""

from __future__ import annotations

import pytest

from dtg.errors import InputError, UnknownNameError
from dtg.explore.records import TREES, Step, phrase_stack, tree_record
from dtg.explore.states import IDLE, MOST_TABS, SearchSettings, StateStore, TabClosedError
from dtg.language_model import LanguageModel
from dtg.transitions.action import GEN, NT, REDUCE
from dtg.transitions.arcs.arc_standard import ArcStandard
from dtg.transitions.top_down import PhraseState, TopDown
from tests.explore.conftest import GARDEN_PATH

SEARCH = SearchSettings("mini", beam=20)


@pytest.fixture
def store(bundled: LanguageModel) -> StateStore:
    return StateStore({"mini": bundled.decoder_model})


def test_records_say_what_the_search_says(store: StateStore, bundled: LanguageModel) -> None:
    state = bundled.begin(20)
    for count, word in enumerate(GARDEN_PATH, start=1):
        state = state.step(word)
        record = store.word("tab", SEARCH, GARDEN_PATH[:count])
        assert record["word"] == word and record["count"] == len(state.trees(None))
        for name in ("surprisal", "lexical", "structural", "entropy", "kept", "log_probability"):
            assert record[name] == pytest.approx(getattr(state, name), rel=1e-4, abs=1e-9), name
        trees = state.trees(8)
        assert [h["tree"]["heads"] for h in record["hypotheses"]] == [list(tree.heads) for tree in trees]
        assert [h["tree"]["stack"] for h in record["hypotheses"]] == [list(tree.stack) for tree in trees]
        assert [h["probability"] for h in record["hypotheses"]] == pytest.approx(
            [tree.probability for tree in trees], rel=1e-4
        )
    ending = store.ending("tab", SEARCH, GARDEN_PATH)
    assert ending["log_probability"] == pytest.approx(state.end().log_probability, rel=1e-4)
    assert ending["kind"] == "lower bound"
    assert ending["trees"][0]["tree"]["heads"] == list(state.end().trees(1)[0].tree.key)
    assert store.ending("tab", SEARCH, ("The", "horse", "fell"))["kind"] == "exact"


def test_the_garden_path_flips(store: StateStore) -> None:
    before, after = (store.word("tab", SEARCH, GARDEN_PATH[:count])["hypotheses"] for count in (6, 7))
    assert before[0]["tree"]["heads"][:3] == [2, 3, None]  # the horse raced
    assert after[0]["tree"]["heads"][:3] == [2, None, 2]  # the horse (that was) raced
    assert after[0]["parent"] == 1 and before[1]["tree"]["heads"][:3] == [2, None, None]
    assert after[0]["tree"]["built"][2] == [6, "RIGHTARC"]  # only now
    assert after[0]["actions"][2] == "LEFTARC" and after[0]["actions"][6] == "LEFTARC LEFTARC RIGHTARC RIGHTARC"


def test_a_further_word_costs_one_step(store: StateStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.word("tab", SEARCH, ("The", "horse"))
    search = store._search(SEARCH)
    before = search.rows_evaluated
    store.word("tab", SEARCH, ("The", "horse"))
    assert search.rows_evaluated == before
    store.word("tab", SEARCH, ("The", "horse", "fell"))
    assert 0 < search.rows_evaluated - before < 40
    assert store.count == 3
    store.word("tab", SEARCH, ("The", "dog"))  # another way on from the same state
    assert store.count == 4


def test_states_that_do_not_fit_are_made_again(bundled: LanguageModel) -> None:
    small = StateStore({"mini": bundled.decoder_model}, memory=1)
    for count in range(1, 5):
        small.word("tab", SEARCH, GARDEN_PATH[:count])
        assert small.count == 1
    found = small.next_words("tab", SEARCH, GARDEN_PATH[:2], None)
    roomy = StateStore({"mini": bundled.decoder_model})
    assert found == roomy.next_words("tab", SEARCH, GARDEN_PATH[:2], None)
    assert roomy.size > 0


def test_closed_and_idle_tabs_are_freed(bundled: LanguageModel) -> None:
    now = 0.0
    store = StateStore({"mini": bundled.decoder_model}, clock=lambda: now)
    for name in ("first", "second"):
        store.word(name, SEARCH, ("The",))
    store.close("first")
    assert list(store.tabs) == ["second"]
    with pytest.raises(TabClosedError):
        store.word("first", SEARCH, ("The",))  # what was still on its way
    now = IDLE + 1
    store.close_idle()
    assert store.count == 0 and not store._searches
    assert store.word("second", SEARCH, ("The",))["word"] == "The"  # an idle tab may come back
    for number in range(MOST_TABS + 5):
        store.word(f"tab{number}", SEARCH, ("The",))
    assert len(store.tabs) == MOST_TABS


def test_mistakes(store: StateStore, bundled: LanguageModel) -> None:
    with pytest.raises(UnknownNameError, match="no model called 'other'"):
        store.word("tab", SearchSettings("other", beam=5), ("The",))
    with pytest.raises(InputError, match="there is no hypothesis 99"):
        store.attention("tab", SEARCH, ("The",), 99)
    ticks = iter(range(1000))
    slow = StateStore({"mini": bundled.decoder_model}, time_limit=2, clock=lambda: float(next(ticks)))
    with pytest.raises(InputError, match="this took longer than 2 seconds"):
        slow.state("tab", SEARCH, GARDEN_PATH)


def test_phrases_are_described() -> None:
    system = TopDown(labels=("S", "NP", "VP"), typed_closing=False)
    actions = [NT("S"), NT("NP"), GEN("The"), GEN("horse"), REDUCE, NT("VP"), GEN("fell")]
    state, steps = system.initial(), list[Step]()
    for action in actions:
        state = system.apply(state, action)  # type: ignore[assignment]
        steps.append(Step(action, state))
    #                 (S (NP The horse) (VP fell
    assert tree_record(system, steps) == {
        "kind": "constituency",
        "nodes": [["S", 1, None], ["NP", 1, 2], ["VP", 3, None]],
        "stack": ["ROOT", "(S", "NP", "(VP", "fell"],
        "built": [[0, None], [0, 2], [2, None]],
    }
    assert isinstance(state, PhraseState)
    inner = PhraseState(words=("a", "b", "c"), nodes=(("S", 1, None), ("NP", 2, 2)))
    assert phrase_stack(inner) == ["(S", "a", "NP", "c"]


def test_a_kind_without_a_drawing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dtg.explore.records.TREES", {})
    assert tree_record(ArcStandard(), []) == {"kind": "dependency"}
    assert TREES is not None
