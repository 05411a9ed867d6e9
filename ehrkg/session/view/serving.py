"""Listening: a socket, a server on it, and a clean end."""

from __future__ import annotations

import errno
import socket
import threading
import webbrowser
from collections.abc import Callable
from urllib.parse import quote

import uvicorn
from starlette.types import ASGIApp

from ehrkg.foundation.errors import ServiceError, UsageError
from ehrkg.session.view.guard import LOOPBACK, Guard, Secrets

SECONDS_TO_END = 2
"""How long a request that runs is waited for when the server is stopped."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on.

    Args:
        host: an address of this machine, or a name of one.
        port: 0 takes any that is free.

    Raises:
        ServiceError: the port is taken.
        UsageError: the host is no address of this machine, or the port is not to be had.
    """
    try:
        kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(kind, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(64)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ServiceError(
                f"port {port} of {host} is taken by another program",
                todo="end that one, or give another: --port 0 takes any that is free",
            ) from error
        raise UsageError(
            f"can't listen on port {port} of {host}: {error.strerror or error}",
            todo="give an address of this machine, and a port from 1024 to 65535",
        ) from error
    return made


def address_of(host: str, port: int, token: str = "") -> str:
    """The address to open.

    >>> address_of("127.0.0.1", 8765), address_of("::1", 80, "a")
    ('http://127.0.0.1:8765/', 'http://[::1]:80/?token=a')
    """
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?token={quote(token)}" if token else "")


def serve(
    app: ASGIApp,
    *,
    host: str,
    port: int,
    kept: Secrets,
    show: bool,
    say: Callable[[str], None],
) -> None:
    """Serve pages until Ctrl-C.

    Args:
        app: the pages.
        host: what to listen on.
        port: likewise.
        kept: the secrets; their token is part of the address that is said.
        show: open a browser, where no token is asked for (its address would stand in the list of
            programs that every user of the machine can see).
        say: is given lines for the person at the terminal.

    Raises:
        ServiceError: the port is taken.
        UsageError: the host is no address of this machine.
    """
    with listen(host, port) as taken:
        real = taken.getsockname()[1]
        say(f"Open {address_of(host, real, kept.token)} (Ctrl-C ends it).")
        if host not in LOOPBACK:
            say(
                "Whoever has this address reads patient data, and what is sent is not encrypted: "
                "a tunnel (ssh -L) to 127.0.0.1 is safer."
            )
        if show and not kept.token:
            threading.Thread(
                target=webbrowser.open, args=[address_of(host, real)], daemon=True
            ).start()
        config = uvicorn.Config(
            Guard(app, host=host, port=real, kept=kept),
            lifespan="off",
            ws="none",
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=SECONDS_TO_END,
        )
        try:
            uvicorn.Server(config).run(sockets=[taken])
        except KeyboardInterrupt:
            say("Stopped.")
