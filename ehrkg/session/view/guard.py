"""Who is let in: the page is for one person on this machine, or for those who hold the token.

A page of somebody else's, open in the same browser, can send requests to this machine. So a name
that is not this server's is refused (DNS rebinding), a change must come from a page of this server
(its origin, and a word that only its pages hold), and nothing of an answer is kept or framed.
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ehrkg.session.view.pages import Refusal, page

LOOPBACK = ("127.0.0.1", "localhost", "::1")
ENTER = "/enter"
READING = ("GET", "HEAD")
MOST_BYTES = 64 * 1024
"""Of a form that is sent; a comment is far shorter."""

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of every page: nothing from elsewhere, nothing inline."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Of every answer, where it does not say otherwise itself."""


@dataclass(frozen=True)
class Secrets:
    """What a running server keeps to itself.

    Attributes:
        token: what lets in, or "" where nothing is asked for.
        form: the word that forms carry.
        session: what the cookie of who was let in holds.
    """

    token: str
    form: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(24))


def host_name(header: str) -> str:
    """The name in a Host header, without the port.

    >>> host_name("LocalHost:8080"), host_name("[::1]:8080"), host_name("")
    ('localhost', '::1', '')
    """
    try:
        return (urlsplit(f"//{header}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_known(name: str, served: str) -> bool:
    """Whether a server that listens on ``served`` answers to a name.

    On loopback only loopback's names are known. Elsewhere addresses are too: a page of somebody
    else's can make its own name lead here, but never an address.

    >>> is_known("localhost", "127.0.0.1"), is_known("evil.example", "127.0.0.1")
    (True, False)
    >>> is_known("10.0.0.5", "0.0.0.0"), is_known("evil.example", "0.0.0.0")
    (True, False)
    """
    if name in LOOPBACK:
        return True
    if served in LOOPBACK:
        return False
    return name == served.lower() or _is_address(name) or name in _own_names()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _own_names() -> set[str]:
    import socket

    return {socket.gethostname().lower(), socket.getfqdn().lower()}


def same(given: str, kept: str) -> bool:
    """Whether two secrets are equal, in a time that says nothing about where they differ."""
    return secrets.compare_digest(given.encode(), kept.encode())


class Guard:
    """Stands before every page.

    Args:
        app: the pages.
        host: what the server listens on.
        port: likewise; it names the cookie, as ports of one name share them.
        kept: the secrets.
    """

    def __init__(self, app: ASGIApp, *, host: str, port: int, kept: Secrets) -> None:
        self._app, self._host, self._kept = app, host, kept
        self._cookie = f"ehrkg_view_{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, refuse, or let pass."""
        if scope["type"] != "http":
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope, receive)
        try:
            answer = await self._stop(request)
        except Refusal as refusal:
            answer = page("refused", refusal.status, title=refusal.title, words=refusal.words)
        await (answer or self._app)(scope, receive, sealed)

    async def _stop(self, request: Request) -> Response | None:
        """An answer in place of a page; ``None`` lets pass."""
        if not is_known(host_name(request.headers.get("host", "")), self._host):
            raise Refusal(421, "Unknown name", "This server does not answer to that name.")
        if request.url.path.startswith("/static/"):
            return None
        form: Mapping[str, str] = {}
        if request.method not in READING:
            _same_origin(request)
            form = await _form(request)
            request.scope["form"] = form
        if self._kept.token:
            answer = self._let_in(request, form)
            if answer is not None:
                return answer
        if request.method not in READING and not same(form.get("form", ""), self._kept.form):
            raise Refusal(
                403,
                "Not recorded",
                "This form is of an earlier start of the program. Go back, load the page anew, "
                "and send it again; what was recorded before is kept.",
            )
        return None

    def _let_in(self, request: Request, form: Mapping[str, str]) -> Response | None:
        if same(request.cookies.get(self._cookie, ""), self._kept.session):
            return None
        asked = {name: value for name, value in request.query_params.items() if name != "token"}
        given = form.get("token", "") or request.query_params.get("token", "")
        if not same(given, self._kept.token):
            status = 403 if given else 401
            return page("enter", status, wrong=bool(given))
        place = "/" if request.url.path == ENTER else request.url.path
        there = f"{place}?{urlencode(asked)}" if asked else place
        answer = RedirectResponse(there, 303)
        answer.set_cookie(self._cookie, self._kept.session, httponly=True, samesite="strict")
        return answer


def _same_origin(request: Request) -> None:
    """Refuse what another site's page sends.

    Raises:
        Refusal: the browser says that it comes from elsewhere.
    """
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site", "same-origin")
    here = request.headers.get("host", "")
    if site != "same-origin" or (origin is not None and urlsplit(origin).netloc != here):
        raise Refusal(403, "Not recorded", "This was sent by a page of another place.")


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; of a field that is sent several times, the values joined by spaces.

    Raises:
        Refusal: it is too long, or no form.
    """
    data = b""
    async for piece in request.stream():
        data += piece
        if len(data) > MOST_BYTES:
            raise Refusal(413, "Not recorded", f"A form holds {MOST_BYTES:,} bytes at most.")
    try:
        fields = parse_qs(data.decode("utf-8"), keep_blank_values=True, max_num_fields=64)
    except ValueError as error:
        raise Refusal(400, "Not recorded", "This is no form.") from error
    return {name: " ".join(values) for name, values in fields.items()}
