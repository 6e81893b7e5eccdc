"""A real browser for tests: Playwright with the chromium that the system has, and a server for it to talk to.

Where there is none, tests skip and say so; under DTG_REQUIRE_BROWSER=1 that is a failure.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dtg.model import DecoderModel

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from dtg.explore.server import Explorer

AXE = Path(__file__).parent / "axe" / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome")
READY = "body:not(.busy) .beam .about"


def chromium() -> str:
    """The path of a chromium; skips or fails where something is missing."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    missing = [name for name in ("playwright", "starlette", "uvicorn") if not importlib.util.find_spec(name)]
    if found is not None and not missing:
        return found
    reason = f"no browser tests: {', '.join(missing) or 'chromium'} is not installed (apt-get install chromium)"
    if os.environ.get("DTG_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Headless; as root, chromium wants no sandbox."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"], headless=True)
        yield browser
        browser.close()


@dataclass
class RunningServer:
    """A server in a thread of this process, so that tests can look into it."""

    explorer: Explorer
    address: str


@contextmanager
def running_server(models: Mapping[str, DecoderModel]) -> Iterator[RunningServer]:
    """Serve on a free port of this machine."""
    chromium()
    import uvicorn

    from dtg.explore.access import Access
    from dtg.explore.server import Explorer

    explorer = Explorer(models, Access())
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(explorer.app(), log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
    thread.start()
    yield RunningServer(explorer, f"http://127.0.0.1:{listening.getsockname()[1]}/")
    server.should_exit = True
    thread.join(timeout=10)
    listening.close()


@dataclass
class Watched:
    """A page, and what it complained about."""

    page: Page
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def watched_page(browser: Browser, **settings: Any) -> Iterator[Watched]:
    """A page without a console error, that asks nobody but its own server."""
    options: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **settings}
    context = browser.new_context(**options)
    watched = Watched(context.new_page())
    watched.page.set_default_timeout(20_000)
    watched.page.on(
        "console",
        lambda message: watched.problems.append(message.text) if message.type in ("error", "warning") else None,
    )
    watched.page.on("pageerror", lambda problem: watched.problems.append(str(problem)))
    watched.page.on("request", lambda request: watched.requests.append(request.url))
    yield watched
    context.close()
    assert watched.problems == []
    assert all(url.startswith(("http://127.0.0.1:", "file://", "blob:", "data:")) for url in watched.requests)


def violations(page: Page) -> list[str]:
    """What axe finds wrong, with the elements that it is about."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run({ resultTypes: ['violations'] })")
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
