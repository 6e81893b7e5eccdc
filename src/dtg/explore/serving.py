"""Runs the server: a free port, a token where it is needed, and the address to open."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from dtg.errors import InputError, MissingExtraError
from dtg.model.model import DecoderModel

ANY_ADDRESS = ("0.0.0.0", "::", "")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server listens."""

    socket: socket.socket
    host: str
    token: str | None

    @property
    def is_local(self) -> bool:
        """Only this machine can reach it."""
        return self.host in LOOPBACK

    def address(self, **settings: str) -> str:
        """What to open in a browser; settings of the page stand behind the #."""
        port = self.socket.getsockname()[1]
        name = "127.0.0.1" if self.host in ANY_ADDRESS else f"[{self.host}]" if ":" in self.host else self.host
        token = "" if self.token is None else f"?token={self.token}"
        return f"http://{name}:{port}/{token}" + (f"#{urlencode(settings)}" if settings else "")


def listen(host: str | None = None, port: int = 0) -> Place:
    """Take a port: on this machine alone without `host`, which otherwise means that a token is needed."""
    found = socket.socket(socket.AF_INET6 if ":" in (host or "") else socket.AF_INET)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host or "127.0.0.1", port))
    except OSError as problem:
        found.close()
        raise InputError(f"cannot listen on {host or '127.0.0.1'}, port {port}: {problem.strerror}.") from None
    return Place(found, host or "127.0.0.1", None if host is None else secrets.token_urlsafe(16))


def check_installed() -> None:
    """Raise unless the server's packages are there."""
    try:
        import starlette
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtraError("Starlette and uvicorn", "explore", "the explorer's server") from None
    del starlette


def serve(models: Mapping[str, DecoderModel], place: Place, when_ready: Callable[[], None]) -> None:
    """Answer until interrupted."""
    check_installed()
    import uvicorn

    from dtg.explore.access import LOOPBACK as LOOPBACK_NAMES
    from dtg.explore.server import make_app

    hosts = None if place.host in ANY_ADDRESS else LOOPBACK_NAMES if place.is_local else (place.host, *LOOPBACK_NAMES)
    config = uvicorn.Config(
        make_app(models, hosts=hosts, token=place.token),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            when_ready()

    Server(config).run(sockets=[place.socket])
