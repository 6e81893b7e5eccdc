"""Who may ask the server, and what browsers are told with every answer.

Browsers send requests on behalf of any page that is open, so Host and Origin are checked: a page from elsewhere gets nothing,
also if its name is made to point here (DNS rebinding).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask. `hosts` are the names that the server answers to, None for any; a token, where there is one, is required."""

    hosts: tuple[str, ...] | None = LOOPBACK
    token: str | None = None

    def problem(self, request: HttpRequest) -> str | None:
        """Why a request is refused; None if it is not."""
        host = request.headers.get("host", "")
        if self.hosts is not None and host_name(host) not in self.hosts:
            return f"this server does not answer to the name {host!r}."
        origin = request.headers.get("origin")
        if origin is not None and origin != f"{request.url.scheme}://{host}":
            return "this request comes from another page."
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and request.method != "GET":
            return "this request comes from another page."
        if self.token is not None and not self.knows(request):
            return "the token is missing or wrong; open the address that dtg explore printed."
        return None

    def knows(self, request: HttpRequest) -> bool:
        """Whether the request has the token: in the address, in a cookie, or in a header."""
        assert self.token is not None
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        found = (request.query_params.get("token"), request.cookies.get(self.cookie(request)), bearer)
        return any(secrets.compare_digest(one.encode(), self.token.encode()) for one in found if one)

    @staticmethod
    def cookie(request: HttpRequest) -> str:
        """Browsers share cookies between ports."""
        return f"dtg-explore-{request.url.port or 80}"


def host_name(host: str) -> str:
    """A Host header without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


class Guard:
    """Refuses what `Access` refuses, and adds headers to every answer."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif problem := self.access.problem(HttpRequest(scope)):
            await JSONResponse({"error": problem}, 403)(scope, receive, send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)
