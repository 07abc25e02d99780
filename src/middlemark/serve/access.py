"""Who may see the pages, and what a browser may do with one.

On loopback everybody on this machine may, under one of its own names, so that no page elsewhere can read the runs
through a browser (DNS rebinding); beyond it, whoever has the token. What the pages hold is `app`'s.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp

Next = Callable[[Request], Awaitable[Response]]

LOOPBACK = "127.0.0.1"
TOKEN = "token"  # noqa: S105 - the name of the parameter and of the cookie
POLICY = "Content-Security-Policy"
_CLOSED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
KEPT_APART = (
    f"sandbox allow-scripts allow-downloads; {_CLOSED}; script-src 'unsafe-inline' 'unsafe-eval'; form-action 'none'"
)
"""For a page that a run brings along: it has an origin of its own, so that its scripts can read no other page."""
GUARDS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
    # Vega compiles its expressions, hence eval; the pages' own scripts are inline.
    POLICY: f"{_CLOSED}; script-src 'self' 'unsafe-inline' 'unsafe-eval'; form-action 'self'",
}


@dataclass(frozen=True)
class Admission:
    """Who is admitted: where there is a token, who has it, under whatever name; else who asks under these names."""

    hosts: tuple[str, ...] = ("localhost", LOOPBACK)
    token: str | None = None

    def address(self, host: str, port: int) -> str:
        """Where a browser finds the pages."""
        named = f"[{host}]" if ":" in host else host
        return f"http://{named}:{port}/" + (f"?{TOKEN}={self.token}" if self.token else "")


def admission(listening: str, name: str) -> Admission:
    """On this machine's own address under its names; on any other with a token, drawn anew each time."""
    if listening.startswith("127."):
        return Admission(hosts=("localhost", LOOPBACK, listening, name))
    return Admission(token=secrets.token_urlsafe(24))


def guards(admission: Admission) -> list[Middleware]:
    """What every request passes, in this order."""
    if admission.token is None:
        return [Middleware(TrustedHostMiddleware, allowed_hosts=list(admission.hosts)), Middleware(_Guarded)]
    return [Middleware(_Guarded), Middleware(_TokenAsked, token=admission.token)]


class _Guarded(BaseHTTPMiddleware):
    async def dispatch(self, request: Request, call_next: Next) -> Response:
        response = await call_next(request)
        for name, value in GUARDS.items():
            response.headers.setdefault(name, value)
        return response


class _TokenAsked(BaseHTTPMiddleware):
    """The token comes once, in the address that was printed; from then on a cookie has it."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        super().__init__(app)
        self._token = token

    async def dispatch(self, request: Request, call_next: Next) -> Response:
        if self._is_right(request.query_params.get(TOKEN)):
            response: Response = RedirectResponse("/", 303)
            # `lax`, as a report is kept apart, and its links to its trials would else lead nowhere.
            response.set_cookie(TOKEN, self._token, httponly=True, samesite="lax")
            return response
        if self._is_right(request.cookies.get(TOKEN)):
            return await call_next(request)
        return PlainTextResponse("open the address that `middlemark serve` printed, with its token", 401)

    def _is_right(self, given: str | None) -> bool:
        return given is not None and secrets.compare_digest(given.encode(errors="replace"), self._token.encode())
