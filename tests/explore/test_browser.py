"""The page in a real browser: typing, stepping, sliding, comparing, saving, the keyboard alone, and axe."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from dtg.language_model import LanguageModel
from dtg.search.state import BeamState
from tests.explore.browser import (
    READY,
    RunningServer,
    Watched,
    running_browser,
    running_server,
    violations,
    watched_page,
)
from tests.explore.conftest import GARDEN_PATH

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SENTENCE = " ".join(GARDEN_PATH)
BEAM = 20


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(bundled: LanguageModel, words_only: LanguageModel) -> Iterator[RunningServer]:
    models = {"dtg-mini": bundled.decoder_model, "txl-mini": words_only.decoder_model}
    with running_server(models) as server:
        yield server


@pytest.fixture(scope="module")
def states(bundled: LanguageModel) -> list[BeamState]:
    """The search that the page should show, after each word."""
    found = [bundled.begin(BEAM)]
    for word in GARDEN_PATH:
        found.append(found[-1].step(word))
    return found[1:]


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    with watched_page(browser) as watched:
        yield watched


def address(server: RunningServer, **settings: str) -> str:
    return f"{server.address}#{urlencode({'beam': BEAM, **settings})}"


def is_done(page: Page, word: str) -> None:
    """Wait until everything is computed and the beam after this word is shown."""
    page.wait_for_selector(READY)
    page.get_by_role("heading", name=f"After “{word}”", exact=False).first.wait_for()


def cards(page: Page) -> list[tuple[str, str]]:
    """(name, probability) of the hypotheses that are shown, in order."""
    badges = page.locator(".card .badge").all_text_contents()
    return list(zip(badges, page.locator(".card .probability").all_text_contents(), strict=True))


def in_bits(state: BeamState) -> str:
    return f"{state.surprisal / math.log(2):.1f}"


def said(probability: float) -> str:
    if probability < 0.001:
        return "< 0.1 %"
    if probability < 0.9995:
        return f"{100 * probability:.1f} %"
    return "> 99.9 %" if float(f"{probability:.6g}") < 1 else "100 %"


def same_as(state: BeamState, page: Page) -> None:
    """The hypotheses on the page are those of the search, in the same order with the same numbers and trees."""
    found = cards(page)
    trees = state.trees(len(found))
    assert [probability for _, probability in found] == [said(tree.probability) for tree in trees]
    for card, tree in zip(page.locator(".card").all(), trees, strict=True):
        arcs = sum(head is not None for head in tree.heads)
        assert card.locator(".tree .arc").count() == arcs
        stack = ["ROOT" if item == 0 else tree.words[item - 1] for item in tree.stack]
        assert card.locator(".stack li").all_text_contents() == stack[::-1]


def test_a_garden_path_is_typed_and_stepped_through(
    watched: Watched, server: RunningServer, states: list[BeamState]
) -> None:
    page = watched.page
    page.goto(address(server, s="The"))
    is_done(page, "The")
    page.get_by_label("Sentence", exact=True).fill("")
    page.get_by_label("Sentence", exact=True).press_sequentially("The horse raced past the barn fell.", delay=5)
    is_done(page, ".")
    assert page.locator("#words .name").all_text_contents() == list(GARDEN_PATH)
    values = page.locator("#words .bar .value").all_text_contents()
    assert values == [in_bits(state) for state in states]
    assert "s=The+horse+raced+past+the+barn+fell." in page.url and f"beam={BEAM}" in page.url

    page.get_by_role("button", name=re.compile(r"^barn\b")).click()
    is_done(page, "barn")
    same_as(states[5], page)
    before = cards(page)
    page.keyboard.press("ArrowRight")
    is_done(page, "fell")
    same_as(states[6], page)
    after = cards(page)
    assert before[0][0] == after[1][0] and before[1][0] == after[0][0]  # they have changed places
    assert "▲ from 2" in page.locator(".card .moved").first.text_content()  # type: ignore[operator]
    summary = page.locator("#live").text_content()
    assert summary is not None and summary.startswith(f"After “fell”, {in_bits(states[6])} bits. Best of 6, ")
    assert "raced depends on horse" in summary

    page.locator(".card .tree .arc .head").nth(1).hover()
    assert page.locator("#tip").text_content() == "horse → raced: RIGHTARC, after “barn” and before “fell”"
    assert page.locator(".card.picked .badge").text_content() == after[0][0]
    page.locator(".card .choose").nth(1).click()
    assert page.locator(".card.picked .badge").text_content() == after[1][0]
    assert "at=7" in page.url and "h=2" in page.url


def test_the_address_is_all_one_needs(watched: Watched, server: RunningServer, states: list[BeamState]) -> None:
    page = watched.page
    page.goto(address(server, s=SENTENCE, at="7", h="2", tab="attention"))
    is_done(page, "fell")
    assert page.locator(".card.picked .probability").text_content() == said(states[6].trees(2)[1].probability)
    page.wait_for_selector(".matrix")
    page.goto(address(server, s="Dogs bark .", tab="ending"))
    is_done(page, ".")
    page.get_by_text("exact: enumeration of all 7 trees").wait_for()
    assert page.locator(".endings .tree").count() >= 1


def test_the_beam_slider_reads_again_from_the_first_word(
    watched: Watched, server: RunningServer, bundled: LanguageModel
) -> None:
    page = watched.page
    page.goto(address(server, s=SENTENCE, at="6"))
    is_done(page, "barn")
    page.get_by_role("slider", name="Beam").fill("0")
    page.wait_for_url("**beam=5*")
    page.get_by_text("1 hypothesis").wait_for()  # a third of five
    is_done(page, "barn")
    state = bundled.begin(5)
    for word in GARDEN_PATH[:6]:
        state = state.step(word)
    same_as(state, page)
    page.get_by_role("slider", name="Kept").fill("3")
    page.wait_for_url("**kept=5*")
    page.get_by_text("5 hypotheses").wait_for()


def test_the_accuracy_slider_has_what_the_command_has(
    watched: Watched, server: RunningServer, bundled: LanguageModel
) -> None:
    page = watched.page
    page.goto(f"{server.address}#{urlencode({'s': SENTENCE, 'at': '7'})}")
    is_done(page, "fell")
    assert page.get_by_role("slider", name="Beam").count() == 0  # it adapts
    for place, accuracy in enumerate(("fast", "default")):
        page.get_by_role("slider", name="Accuracy").fill(str(place))
        page.wait_for_url(f"**accuracy={accuracy}*")
        is_done(page, "fell")
        state = bundled.begin(accuracy=accuracy)  # type: ignore[arg-type]
        for word in GARDEN_PATH[:7]:
            state = state.step(word)
        same_as(state, page)
    page.get_by_role("slider", name="Accuracy").fill("3")
    page.wait_for_url("**beam=50*")
    assert page.get_by_role("slider", name="Beam").count() == 1


def test_two_models_and_two_sentences_are_compared(watched: Watched, server: RunningServer) -> None:
    page = watched.page
    page.goto(address(server, s="The man knew the answer was wrong .", at="6"))
    is_done(page, "was")
    page.get_by_role("button", name="Compare a model").click()
    page.get_by_text("txl-mini generates words without a tree").wait_for()
    page.wait_for_selector(READY)
    assert page.locator("#words .column.current .bar").count() == 2
    assert re.fullmatch(r"[▲▼]?[+−]?\d+\.\d", page.locator(".column.current .difference").text_content() or "")
    page.get_by_role("button", name="Remove sentence 2").click()
    page.get_by_role("button", name="Compare a sentence").click()
    page.get_by_role("textbox", name="Sentence 2").wait_for()
    page.get_by_role("textbox", name="Sentence 2").fill("The man knew that the answer was wrong .")
    page.wait_for_selector("#words .column:nth-child(9)")
    page.wait_for_selector(READY)
    names = [column.locator(".name").all_text_contents() for column in page.locator("#words .column").all()]
    assert names[2:5] == [["knew"], ["–", "that"], ["the"]]
    page.locator("#words .column").nth(6).click()
    assert page.get_by_role("heading", name="After “was”").count() == 2
    assert "s2=" in page.url and "model2=dtg-mini" in page.url
    assert violations(page) == []


def test_examples_are_one_click_away(watched: Watched, server: RunningServer) -> None:
    page = watched.page
    page.goto(address(server, s="The"))
    is_done(page, "The")
    page.get_by_role("button", name="MV/RR").click()
    is_done(page, "laughed")
    page.get_by_role("button", name="Agreement attraction").click()
    is_done(page, "are")
    page.get_by_role("tab", name="Next word").wait_for()
    page.locator(".predictions button").first.click()  # the sentence continues with that word
    page.locator("#words .column").nth(8).wait_for(state="detached")
    assert page.locator("#words .column").count() == 8


def test_attention_by_layer_and_head(watched: Watched, server: RunningServer) -> None:
    page = watched.page
    page.goto(address(server, s="The horse fell .", at="3", tab="attention"))
    page.wait_for_selector(".matrix")
    rows = page.locator(".matrix .row").count()
    assert rows == 6  # <ROOT>, The, horse, two for LEFTARC, fell
    assert page.locator(".matrix .row:last-child .cell").count() == 3  # <ROOT>, the phrase, itself
    page.get_by_label("Show").select_option("0")
    page.get_by_label("Head").select_option("1")
    page.locator(".matrix .row:last-child .cell").first.hover()
    text = page.locator("#tip").text_content()
    assert text is not None and re.search(r"row 5, fell, attends to row 0, <ROOT>, at position 2: [\d.]+ %", text)
    page.get_by_role("tab", name="Actions").click()
    page.get_by_text("GEN(horse)").first.wait_for()


def test_the_keyboard_is_enough(watched: Watched, server: RunningServer) -> None:
    page = watched.page
    page.goto(address(server, s=""))
    page.wait_for_selector("#sentence-0")
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.id") == "sentence-0":
            break
    page.keyboard.type("The horse raced past the barn fell ", delay=5)
    page.keyboard.press("Enter")
    is_done(page, "fell")
    page.keyboard.press("Home")
    is_done(page, "The")
    assert page.evaluate("() => document.activeElement.textContent.includes('The')")
    for word in GARDEN_PATH[1:7]:
        page.keyboard.press("ArrowRight")
        is_done(page, word)
    page.keyboard.press("ArrowDown")
    assert page.locator(".card.picked").get_attribute("data-lineage") == cards(page)[1][0]
    page.keyboard.press("ArrowUp")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.getAttribute('role')") == "tab":
            break
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", selected=True).text_content() == "Actions"
    outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"  # the focus can be seen


def test_a_saved_page_works_from_the_disk(
    watched: Watched, server: RunningServer, browser: Browser, tmp_path: Path
) -> None:
    page = watched.page
    page.goto(address(server, s=SENTENCE, at="7"))
    is_done(page, "fell")
    expected = cards(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save page").click()
    path = tmp_path / "page.html"
    download.value.save_as(path)
    assert path.stat().st_size < 1_000_000
    with watched_page(browser, offline=True) as saved:
        saved.page.goto(path.as_uri())
        is_done(saved.page, "fell")  # it opens where belief moves most
        assert cards(saved.page) == expected
        saved.page.get_by_role("button", name=re.compile(r"^past\b")).click()
        is_done(saved.page, "past")
        saved.page.keyboard.press("ArrowRight")
        is_done(saved.page, "the")
        saved.page.locator(".card .tree .arc .head").first.hover()
        assert "LEFTARC" in (saved.page.locator("#tip").text_content() or "")
        for name in ("Attention", "Actions", "End of sentence", "Next word"):
            saved.page.get_by_role("tab", name=name).click()
        saved.page.get_by_text("Given hypothesis").wait_for()
        assert violations(saved.page) == []


def test_a_notebook_frame_works(browser: Browser, bundled: LanguageModel, tmp_path: Path) -> None:
    shown = bundled.explore("The horse fell.", "Dogs bark.", beam=5)._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!doctype html><meta charset=utf-8>{shown}", encoding="utf-8")
    with watched_page(browser) as notebook:
        notebook.page.goto((tmp_path / "notebook.html").as_uri())
        frame = notebook.page.frame_locator("iframe")
        frame.locator(READY).first.wait_for()
        frame.get_by_label("Sentence").select_option("1")
        frame.get_by_role("button", name=re.compile(r"^Dogs\b")).wait_for()


def test_pictures_are_saved(watched: Watched, server: RunningServer) -> None:
    page = watched.page
    page.goto(address(server, s="The horse fell ."))
    is_done(page, ".")
    for kind, begin in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save the surprisal picture as {kind}").click()
        content = Path(download.value.path()).read_bytes()
        assert content.startswith(begin) and len(content) > 1000
    with page.expect_download() as download:
        page.locator(".card").first.hover()
        page.locator(".card").first.get_by_text("SVG").click()
    drawing = Path(download.value.path()).read_text("utf-8")
    assert "horse" in drawing and "class=" not in drawing


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_nothing(browser: Browser, server: RunningServer, scheme: str, width: int) -> None:
    with watched_page(browser, color_scheme=scheme, viewport={"width": width, "height": 900}) as watched:
        page = watched.page
        page.goto(address(server, s=SENTENCE, at="7", tab="attention" if width > 1000 else "next"))
        is_done(page, "fell")
        page.wait_for_selector(".matrix, .predictions")
        assert violations(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width  # only parts scroll sideways


def test_a_closed_tab_frees_its_states(browser: Browser, server: RunningServer) -> None:
    """Browsers do not promise that what a closing page sends arrives, and on a busy machine it may not: three are tried."""

    def is_freed() -> bool:
        with watched_page(browser) as watched:
            watched.page.goto(address(server, s="Dogs bark ."))
            is_done(watched.page, ".")
            before = len(server.explorer.store.tabs)
            watched.page.goto("about:blank")
            for _ in range(50):
                if len(server.explorer.store.tabs) < before:
                    return True
                watched.page.wait_for_timeout(50)
        return False

    assert any(is_freed() for _ in range(3))


def test_problems_are_said(browser: Browser, server: RunningServer) -> None:
    with watched_page(browser) as watched:
        watched.page.goto(address(server, s="a " * 61))
        watched.page.get_by_role("alert").get_by_text("up to 60 can be explored").wait_for()
        watched.problems.clear()  # the browser reports the answer 400
