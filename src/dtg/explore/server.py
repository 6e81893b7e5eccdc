"""The server behind the page: a thin layer over a search's `step`, for one machine and its user.

It listens on this machine alone unless it is told otherwise, and then wants a token; `access.py` says who may ask.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from dtg.errors import DtgError, InputError
from dtg.explore import requests
from dtg.explore.access import LOOPBACK, Access, Guard
from dtg.explore.assets import INDEX, TYPES, asset, asset_names
from dtg.explore.examples import EXAMPLES
from dtg.explore.records import HYPOTHESES, Record, model_record
from dtg.explore.requests import MOST_BYTES, MOST_WORDS, WIDEST_BEAM, SaveRequest, SentenceRequest, StateRequest
from dtg.explore.saved import make_page
from dtg.explore.states import SearchSettings, StateStore, TabClosedError, check_words, too_long
from dtg.explore.worker import Priority, QueueFullError, Worker
from dtg.model.model import DecoderModel
from dtg.search.options import ACCURACIES, DEFAULT
from dtg.text.sentence import as_sentence

FIXED_BEAM = 50  # to begin with, where a beam of fixed width is chosen
TIME_LIMIT = 60.0  # seconds of computing for one request
TIDY_EVERY = 60.0  # seconds between two looks for idle tabs
Asked = TypeVar("Asked", bound=requests.Request)
Answer = Callable[[HttpRequest], Awaitable[Response]]


class Explorer:
    """The endpoints, the worker and the states."""

    def __init__(self, models: Mapping[str, DecoderModel], access: Access, time_limit: float = TIME_LIMIT) -> None:
        self.models, self.access, self.time_limit = models, access, time_limit
        self.store, self.worker = StateStore(models, time_limit=time_limit), Worker()

    def app(self) -> Starlette:
        """An ASGI application."""
        post = [
            ("/api/sentence", self.sentence),
            ("/api/next", self.next_words),
            ("/api/attention", self.attention),
            ("/api/ending", self.ending),
            ("/api/close", self.close),
            ("/api/save", self.save),
        ]
        routes = [
            Route("/", self.index),
            Route("/page/{name}", self.file),
            Route("/api/about", self.about),
            *(Route(path, checked(answer), methods=["POST"]) for path, answer in post),
        ]
        return Starlette(
            routes=routes,
            middleware=[Middleware(Guard, access=self.access)],
            exception_handlers={404: not_found, 405: not_allowed, 500: failed},
            lifespan=self.lifespan,
        )

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """While the server runs, tabs that nobody uses are freed from time to time."""
        tasks = [asyncio.create_task(self.warm_up()), asyncio.create_task(self.tidy())]
        yield
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self.worker.close()

    async def warm_up(self) -> None:
        """What takes long the first time is done before anybody waits for it."""
        with suppress(DtgError):
            for name, model in self.models.items():
                words = await self.worker.run(Priority.WORD, words_of, "Hello.", model.config.language)
                search = SearchSettings(name)
                await self.worker.run(Priority.WORD, self.store.word, "warm-up", search, words)
            await self.worker.run(Priority.WORD, self.store.close, "warm-up")

    async def tidy(self) -> None:
        while True:
            await asyncio.sleep(TIDY_EVERY)
            with suppress(QueueFullError):
                await self.worker.run(Priority.DETAIL, self.store.close_idle)

    async def index(self, request: HttpRequest) -> Response:
        """The page. A token moves from the address into a cookie."""
        if self.access.token is not None and "token" in request.query_params:
            moved = RedirectResponse("/", 303)
            cookie = self.access.cookie(request)
            moved.set_cookie(cookie, self.access.token, httponly=True, samesite="strict")
            return moved
        return Response(asset(INDEX), media_type=TYPES[".html"])

    async def file(self, request: HttpRequest) -> Response:
        """One of the page's files."""
        name = request.path_params["name"]
        if name not in asset_names():
            return JSONResponse({"error": "there is no such file."}, 404)
        return Response(asset(name), media_type=TYPES[Path(name).suffix])

    async def about(self, request: HttpRequest) -> Response:
        """Models, limits and examples."""
        return JSONResponse(
            {
                "models": [model_record(name, model) for name, model in self.models.items()],
                "limits": {"words": MOST_WORDS, "beam": WIDEST_BEAM, "hypotheses": HYPOTHESES},
                "accuracy": DEFAULT,
                "accuracies": {
                    name: f"hypotheses of {100 * limits['smallest_share']:g} % of the probability and more"
                    for name, limits in ACCURACIES.items()
                },
                "beam": FIXED_BEAM,
                "examples": [example.as_dict() for example in EXAMPLES],
            }
        )

    async def sentence(self, request: HttpRequest) -> Response:
        """A sentence's words, then a record for each as it is computed: JSON objects, one on each line."""
        asked = await body_of(request, SentenceRequest)
        self.check_model(asked.model)
        language = self.models[asked.model].config.language
        words = await self.worker.run(Priority.WORD, words_of, asked.text, language)

        async def lines() -> AsyncIterator[str]:
            yield line({"type": "sentence", "words": words})
            seconds = 0.0
            try:
                for count in range(1, len(words) + 1):
                    compute = partial(self.store.word, asked.tab, asked.search, words[:count])
                    record, took = await self.worker.run(Priority.WORD, timed, compute)
                    seconds += took
                    yield line({"type": "word", "index": count - 1, **record})
                    if seconds > self.time_limit and count < len(words):
                        yield line({"type": "error", "error": too_long(self.time_limit)})
                        return
                yield line({"type": "done", "seconds": round(seconds, 3)})
            except (DtgError, QueueFullError) as problem:
                yield line({"type": "error", "error": str(problem)})
            except TabClosedError:
                return

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def next_words(self, request: HttpRequest) -> Response:
        asked = await body_of(request, StateRequest)
        self.check_model(asked.model)
        found = await self.worker.run(
            Priority.DETAIL, self.store.next_words, asked.tab, asked.search, asked.words, asked.hypothesis
        )
        return JSONResponse(found)

    async def attention(self, request: HttpRequest) -> Response:
        asked = await body_of(request, StateRequest)
        self.check_model(asked.model)
        if not asked.words or asked.hypothesis is None:
            raise InputError("words and a hypothesis are expected.")
        found = await self.worker.run(
            Priority.DETAIL, self.store.attention, asked.tab, asked.search, asked.words, asked.hypothesis
        )
        return JSONResponse(found)

    async def ending(self, request: HttpRequest) -> Response:
        asked = await body_of(request, StateRequest)
        self.check_model(asked.model)
        if not asked.words:
            raise InputError("words are expected; there are none.")
        return JSONResponse(
            await self.worker.run(Priority.DETAIL, self.store.ending, asked.tab, asked.search, asked.words)
        )

    async def close(self, request: HttpRequest) -> Response:
        """A tab has been closed."""
        asked = await body_of(request, requests.Request)
        await self.worker.run(Priority.DETAIL, self.store.close, asked.tab)
        return JSONResponse({})

    async def save(self, request: HttpRequest) -> Response:
        """A self-contained page."""
        asked = await body_of(request, SaveRequest)
        for model in asked.models:
            self.check_model(model)
        sentences = list(zip(asked.models, asked.texts, strict=True))
        limits = (asked.accuracy, asked.beam, asked.word_beam, self.time_limit)
        page = await self.worker.run(Priority.DETAIL, make_page, self.models, sentences, *limits)
        disposition = 'attachment; filename="dtg-explore.html"'
        return Response(page.html, media_type=TYPES[".html"], headers={"Content-Disposition": disposition})

    def check_model(self, name: str) -> None:
        if name not in self.models:
            raise InputError(f"there is no model called {name!r} here. Known: {', '.join(self.models)}.")


def checked(answer: Answer) -> Answer:
    """An endpoint whose errors are answered in JSON."""

    async def wrapped(request: HttpRequest) -> Response:
        try:
            return await answer(request)
        except RequestTooLargeError:
            return JSONResponse({"error": f"the request is larger than {MOST_BYTES} bytes."}, 413)
        except WrongTypeError:
            return JSONResponse({"error": "the request must be of type application/json."}, 415)
        except DtgError as problem:
            return JSONResponse({"error": str(problem)}, 400)
        except QueueFullError as problem:
            return JSONResponse({"error": str(problem)}, 503)
        except TabClosedError:
            return JSONResponse({"error": "this tab has been closed."}, 410)
        except ClientDisconnect:
            return Response(status_code=499)

    return wrapped


class RequestTooLargeError(Exception):
    """A request has more bytes than are read."""


class WrongTypeError(Exception):
    """A request is not JSON by its header. Pages from elsewhere cannot send this type without being asked about it."""


async def body_of(request: HttpRequest, kind: type[Asked]) -> Asked:
    """What is asked for, checked."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise WrongTypeError
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise RequestTooLargeError
    return requests.parse(kind, body)


async def not_found(request: HttpRequest, problem: Exception) -> Response:
    return JSONResponse({"error": "there is nothing here."}, 404)


async def not_allowed(request: HttpRequest, problem: Exception) -> Response:
    return JSONResponse({"error": f"{request.method} is not possible here."}, 405)


async def failed(request: HttpRequest, problem: Exception) -> Response:
    return JSONResponse({"error": "something went wrong; the terminal says what."}, 500)


def words_of(text: str, language: str) -> tuple[str, ...]:
    """The words of a text by the rules of a language, not too many."""
    words = as_sentence(text, language).words
    check_words(words, MOST_WORDS)
    return words


def timed(compute: Callable[[], Record]) -> tuple[Record, float]:
    """What is computed, and how many seconds that took, without waiting for its turn."""
    begin = time.perf_counter()
    return compute(), time.perf_counter() - begin


def line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def make_app(
    models: Mapping[str, DecoderModel], *, hosts: Sequence[str] | None = LOOPBACK, token: str | None = None
) -> Starlette:
    """The application for these models.

    Args:
        models: by the names that the page shows.
        hosts: the names that the server answers to; None for any, which needs a token.
        token: what every request must have, if there is one.
    """
    if hosts is None and token is None:
        raise InputError("a server that answers to any name needs a token.")
    return Explorer(models, Access(None if hosts is None else tuple(hosts), token)).app()
