"""A Postgres server of the tests' own: a cluster in a temporary folder, on a loopback port."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/usr/lib/postgresql")
"""Where Debian's packages put each version's programs."""


def programs() -> Path | None:
    """The folder of the newest version's programs, if there is one."""
    found = [folder for folder in ROOT.glob("*/bin") if (folder / "initdb").is_file()]
    return max(found, key=lambda folder: int(folder.parent.name), default=None)


def _user() -> str | None:
    """Whom the server runs as: it refuses to run as root."""
    if os.geteuid():
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    """A server with an empty database ``postgres`` whose texts sort as in English; gives its port.

    Args:
        folder: the folder of the programs.
    """
    home, user = Path(tempfile.mkdtemp(prefix="ehrkg-postgres-")), _user()
    if user:
        shutil.chown(home, user)
    as_user = {"user": user, "extra_groups": []} if user else {}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = home / "data"
    server = None
    try:
        subprocess.run(
            [
                folder / "initdb", "--pgdata", data, "--auth", "trust", "--username", "postgres",
                "--encoding", "UTF8", "--locale", "C.UTF-8", "--locale-provider", "icu",
                "--icu-locale", "en-US", "--no-sync",
            ],
            check=True, capture_output=True, cwd=home, **as_user,
        )  # fmt: skip
        server = subprocess.Popen(
            [folder / "postgres", "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", home, "-F"],
            cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **as_user,
        )  # fmt: skip
        _await(port, server)
        yield port
    finally:
        if server is not None:
            server.send_signal(signal.SIGINT)
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
        shutil.rmtree(home, ignore_errors=True)


def _await(port: int, server: subprocess.Popen[bytes]) -> None:
    import psycopg

    ends = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(host="127.0.0.1", port=port, user="postgres").close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > ends:
                raise
            time.sleep(0.1)
