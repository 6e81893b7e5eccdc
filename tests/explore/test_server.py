"""The server: what it answers, whom it refuses, and that it survives what is thrown at it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the explorer's server needs Starlette: pip install '.[explore]'")

from starlette.testclient import TestClient

from dtg.errors import InputError
from dtg.explore.access import Access
from dtg.explore.requests import LONGEST_TEXT, MOST_BYTES, MOST_WORDS
from dtg.explore.server import Explorer, make_app
from dtg.explore.worker import Priority, QueueFullError, Worker
from dtg.language_model import LanguageModel

TAB = "tab-00001"
ASKED = {"tab": TAB, "model": "mini", "beam": 10}


@pytest.fixture(scope="module")
def explorer(bundled: LanguageModel, words_only: LanguageModel) -> Explorer:
    return Explorer({"mini": bundled.decoder_model, "words": words_only.decoder_model}, Access())


@pytest.fixture(scope="module")
def client(explorer: Explorer) -> Iterator[TestClient]:
    with TestClient(explorer.app(), base_url="http://127.0.0.1:8000") as client:
        yield client


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_page_and_its_files(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200 and "dtg explorer" in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "http" not in page.text.replace("http-equiv", "")  # nothing from elsewhere
    for name, kind in (("main.js", "text/javascript"), ("style.css", "text/css"), ("icon.svg", "image/svg+xml")):
        found = client.get(f"/page/{name}")
        assert found.status_code == 200 and found.headers["content-type"].startswith(kind)
    for missing in ("/page/server.py", "/page/..%2fserver.py", "/nothing", "/page/"):
        answer = client.get(missing)
        assert answer.status_code == 404 and "error" in answer.json()
    about = client.get("/api/about").json()
    assert [model["name"] for model in about["models"]] == ["mini", "words"]
    assert about["models"][0]["kind"] == "dependency" and about["models"][1]["kind"] is None
    assert len(about["examples"]) >= 5


def test_a_sentence_comes_word_by_word(client: TestClient, bundled: LanguageModel) -> None:
    answer = client.post("/api/sentence", json={**ASKED, "text": "The horse fell."})
    first, *words, last = lines(answer.text)
    assert first == {"type": "sentence", "words": ["The", "horse", "fell", "."]}
    assert last["type"] == "done"
    expected = bundled.surprisal([("The", "horse", "fell", ".")], beam=10)[0].surprisals
    assert [word["surprisal"] for word in words] == pytest.approx(expected.tolist(), rel=1e-4)
    assert [word["index"] for word in words] == [0, 1, 2, 3]


def test_what_else_the_page_asks_for(client: TestClient) -> None:
    state = {**ASKED, "words": ["The", "horse"]}
    following = client.post("/api/next", json=state).json()
    assert len(following["words"]) == 10
    one = client.post("/api/next", json={**state, "hypothesis": 0}).json()
    assert one["words"][0]["probability"] > 0
    attention = client.post("/api/attention", json={**state, "hypothesis": 0}).json()
    assert [row["reads"] for row in attention["rows"]] == [["<ROOT>"], ["▁The"], ["▁horse"]]
    keys = sum(map(len, attention["views"][0]["attends"]))
    assert all(len(text) == 2 * keys for heads in attention["weights"] for text in heads)
    ending = client.post("/api/ending", json=state).json()
    assert ending["kind"] == "exact" and ending["trees"]
    words = client.post("/api/ending", json={**state, "model": "words"}).json()
    assert words["trees"] == [] and words["kind"] == "exact"
    before = client.post("/api/next", json={**ASKED, "words": []}).json()
    assert before["same_word"] == 0


def test_a_page_is_saved(client: TestClient) -> None:
    asked = {"tab": TAB, "texts": ["The horse fell."], "models": ["mini"], "beam": 5}
    answer = client.post("/api/save", json=asked)
    assert answer.status_code == 200 and "attachment" in answer.headers["content-disposition"]
    assert answer.text.startswith("<!doctype html>") and "The horse fell ." in answer.text


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("/api/sentence", {**ASKED, "text": ""}, "has no words"),
        ("/api/sentence", {**ASKED, "text": "a " * MOST_WORDS + "b"}, f"up to {MOST_WORDS} can be explored"),
        ("/api/sentence", {**ASKED, "text": "a" * (LONGEST_TEXT + 1)}, f"up to {LONGEST_TEXT} can"),
        ("/api/sentence", {**ASKED, "text": "a", "model": "none"}, "there is no model called 'none' here"),
        ("/api/sentence", {**ASKED, "text": "a", "beam": 100_000}, "beam is 100000; up to 500"),
        ("/api/sentence", {**ASKED, "text": "a", "beam": 0}, "beam is 0; a whole number of at least 1"),
        ("/api/sentence", {**ASKED, "text": "a", "beam": "5"}, "beam is '5'; a whole number"),
        ("/api/sentence", {**ASKED, "text": "a", "accuracy": "low", "beam": None}, "accuracy is 'low'"),
        ("/api/sentence", {**ASKED, "text": "a", "accuracy": "fast"}, "a beam adapts, or has a fixed width"),
        ("/api/sentence", {**ASKED, "text": 5}, "text is 5; a string is expected"),
        ("/api/sentence", {**ASKED, "text": "a", "more": 1}, "the request has no key more"),
        ("/api/sentence", ASKED, "the request lacks a key"),
        ("/api/sentence", {**ASKED, "tab": "../x", "text": "a"}, "tab is not a name"),
        ("/api/sentence", [1], "not a JSON object"),
        ("/api/next", {**ASKED, "words": "The"}, "words is 'The'; a list is expected"),
        ("/api/next", {**ASKED, "words": [""]}, "none of them empty"),
        ("/api/next", {**ASKED, "words": ["The"], "hypothesis": -1}, "hypothesis is -1"),
        ("/api/next", {**ASKED, "words": ["The"], "hypothesis": 50}, "there is no hypothesis 50"),
        ("/api/attention", {**ASKED, "words": [], "hypothesis": 0}, "words and a hypothesis are expected"),
        ("/api/ending", {**ASKED, "words": []}, "there are none"),
        ("/api/save", {"tab": TAB, "texts": ["a"], "models": [], "beam": 5}, "a model for each"),
        ("/api/sentence", {**ASKED, "text": "half \ud800 a pair"}, "surrogate"),
    ],
)
def test_malformed_requests_get_errors(client: TestClient, path: str, content: Any, message: str) -> None:
    body = json.dumps(content)
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    said = answer.text
    if path == "/api/sentence" and answer.status_code == 200:  # found only while computing
        said = lines(answer.text)[-1]["error"]
    else:
        assert answer.status_code == 400
        said = answer.json()["error"]
    assert message in said and "Traceback" not in said


def test_what_is_not_json_or_too_large(client: TestClient) -> None:
    json_type = {"content-type": "application/json"}
    assert client.post("/api/next", content=b"{", headers=json_type).status_code == 400
    assert client.post("/api/next", content=b"\xff\xfe", headers=json_type).status_code == 400
    assert client.post("/api/next", content=b"[" * 50_000, headers=json_type).status_code == 400
    assert client.post("/api/next", content=b"{}", headers={"content-type": "text/plain"}).status_code == 415
    assert client.post("/api/next", content=b" " * (MOST_BYTES + 1), headers=json_type).status_code == 413
    assert client.get("/api/next").status_code == 405
    assert client.put("/").status_code == 405


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example:8000"},
        {"host": "evil.example:8000", "origin": "http://evil.example:8000"},
        {"origin": "http://evil.example"},
        {"origin": "http://localhost:9999"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_pages_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.post("/api/next", json={**ASKED, "words": []}, headers=headers)
    assert answer.status_code == 403 and "words" not in answer.json()
    assert "content-security-policy" in answer.headers


def test_this_machines_names_are_answered(client: TestClient) -> None:
    for host in ("127.0.0.1:8000", "localhost:8000", "localhost", "[::1]:8000"):
        same = {"host": host, "origin": f"http://{host}"}
        assert client.get("/api/about", headers=same).status_code == 200


def test_a_token_is_required_where_others_can_reach_the_server(bundled: LanguageModel) -> None:
    app = make_app({"mini": bundled.decoder_model}, hosts=None, token="secret-token")
    with TestClient(app, base_url="http://192.168.0.7:8000") as client:
        assert client.get("/").status_code == 403
        assert client.get("/api/about", headers={"authorization": "Bearer wrong"}).status_code == 403
        assert client.get("/api/about", headers={"authorization": "Bearer secret-token"}).status_code == 200
        assert client.get("/?token=wrong").status_code == 403
        page = client.get("/?token=secret-token", follow_redirects=False)
        assert page.status_code == 303 and page.headers["location"] == "/"
        assert (
            "httponly" in page.headers["set-cookie"].lower() and "samesite=strict" in page.headers["set-cookie"].lower()
        )
        assert client.get("/api/about").status_code == 200  # by the cookie
    with pytest.raises(InputError, match="needs a token"):
        make_app({}, hosts=None)


def test_fifty_requests_at_once_lose_nothing(client: TestClient) -> None:
    texts = [f"The {word} fell." for word in ("horse", "man", "dog", "house", "price") * 10]

    def ask(number: int) -> list[dict[str, Any]]:
        asked = {**ASKED, "tab": f"crowd-{number:04d}", "text": texts[number]}
        answer = client.post("/api/sentence", json=asked)
        assert answer.status_code == 200
        return lines(answer.text)

    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(ask, range(50)))
    for text, (first, *words, last) in zip(texts, found, strict=True):
        assert first["words"] == [*text[:-1].split(), "."]
        assert len(words) == 4 and last["type"] == "done"
        same = next(one for other, one in zip(texts, found, strict=True) if other == text)
        assert [word["surprisal"] for word in words] == [word["surprisal"] for word in same[1:-1]]


def test_a_closed_tab_frees_its_states(client: TestClient, explorer: Explorer) -> None:
    asked = {**ASKED, "tab": "closing-tab"}
    client.post("/api/sentence", json={**asked, "text": "The horse fell."})
    assert "closing-tab" in explorer.store.tabs
    assert client.post("/api/close", json={"tab": "closing-tab"}).status_code == 200
    assert "closing-tab" not in explorer.store.tabs
    assert client.post("/api/next", json={**asked, "words": ["The"]}).status_code == 410
    answer = client.post("/api/sentence", json={**asked, "text": "The horse fell."})
    assert [line["type"] for line in lines(answer.text)] == ["sentence"]


def test_time_is_limited(bundled: LanguageModel) -> None:
    explorer = Explorer({"mini": bundled.decoder_model}, Access(), time_limit=0.0)
    with TestClient(explorer.app(), base_url="http://127.0.0.1:8000") as client:
        found = lines(client.post("/api/sentence", json={**ASKED, "text": "The horse fell."}).text)
        assert [line["type"] for line in found] == ["sentence", "word", "error"]
        assert "longer than 0 seconds" in found[-1]["error"]
        asked = {"tab": TAB, "texts": ["The horse fell."], "models": ["mini"], "beam": 5}
        assert "takes too long" in client.post("/api/save", json=asked).json()["error"]


def test_the_queue_is_bounded_has_an_order_and_forgets_what_is_cancelled() -> None:
    computed = list[str]()

    async def ask() -> None:
        worker = Worker(most_waiting=4)
        names = (
            ("first", Priority.DETAIL),
            ("given up", Priority.WORD),
            ("detail", Priority.DETAIL),
            ("word", Priority.WORD),
        )
        tasks = [asyncio.create_task(worker.run(priority, computed.append, name)) for name, priority in names]
        await asyncio.sleep(0)
        with pytest.raises(QueueFullError, match="4 requests are waiting"):
            await worker.run(Priority.WORD, computed.append, "one too many")
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert worker.waiting == 0
        with pytest.raises(ZeroDivisionError):
            await worker.run(Priority.WORD, lambda: 1 / 0)
        await worker.run(Priority.WORD, computed.append, "later")
        worker.close()

    asyncio.run(ask())
    assert computed == ["word", "first", "detail", "later"]


def test_a_failure_is_answered_without_a_traceback(bundled: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = Explorer({"mini": bundled.decoder_model}, Access())

    def fail(*_: object) -> None:
        raise RuntimeError("inner detail")

    monkeypatch.setattr(explorer.store, "ending", fail)
    with TestClient(explorer.app(), base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as client:
        answer = client.post("/api/ending", json={**ASKED, "words": ["The"]})
        assert answer.status_code == 500 and "inner detail" not in answer.text
