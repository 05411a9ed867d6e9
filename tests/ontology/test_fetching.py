"""Fetching from a real server on this machine: whole files or none, and cut transfers go on."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from ehrkg import ontology
from ehrkg.cli import app
from ehrkg.foundation.errors import InputError, ServiceError, UsageError
from ehrkg.ontology.fetching import CHUNK, Home, fetch, homes

OBO = "format-version: 1.2\ndata-version: releases/2026-01-01\n\n" + "".join(
    f"[Term]\nid: DOID:{n}\nname: disease {n}\n\n" for n in range(1, 4000)
)
CONTENT = OBO.encode()


class Server(ThreadingHTTPServer):
    """Serves CONTENT at /whole.obo; at /cut.obo it breaks off each transfer ``cuts`` times."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.cuts = 0
        self.tag = '"first"'
        self.asked: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if self.path == "/moved.obo":
            self.send_response(302)
            self.send_header("Location", "/whole.obo")
            self.end_headers()
            return
        if self.path not in ("/whole.obo", "/cut.obo"):
            self.send_error(404)
            return
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        start = 0
        if wanted and self.headers.get("If-Range") == self.server.tag:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        self.send_response(206 if start else 200)
        self.send_header("ETag", self.server.tag)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        body = CONTENT[start:]
        if self.path == "/cut.obo" and self.server.cuts > 0:
            self.server.cuts -= 1
            body = body[: len(body) // 2]
            self.close_connection = True
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def home(server: Server, file: str = "whole.obo", sha256: str = "") -> dict[str, Home]:
    row = Home("doid", f"{server.url}/{file}", "doid.obo", "infores:own", "CC0-1.0", sha256=sha256)
    return {"doid": row}


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_a_file_comes_whole_with_its_licence_and_edition(tmp_path: Path, server: Server) -> None:
    path = fetch("doid", tmp_path, table=home(server, "moved.obo"))
    assert path == tmp_path / "doid" / "doid.obo"
    assert path.read_bytes() == CONTENT
    assert left(tmp_path) == {"doid.obo", "source.yaml"}
    about = yaml.safe_load((path.parent / "source.yaml").read_text())
    assert (about["licence"], about["version"]) == ("CC0-1.0", "releases/2026-01-01")
    known = ontology.load(path)
    assert known.concepts.num_rows == 3999
    assert set(known.concepts["source"].to_pylist()) == {"infores:own"}


def test_what_is_there_is_kept_unless_asked_for_again(tmp_path: Path, server: Server) -> None:
    path = fetch("doid", tmp_path, table=home(server))
    path.write_text("mine")
    assert fetch("doid", tmp_path, table=home(server)).read_text() == "mine"
    assert fetch("doid", tmp_path, table=home(server), again=True).read_bytes() == CONTENT


def test_a_cut_transfer_goes_on_where_it_stopped(tmp_path: Path, server: Server) -> None:
    server.cuts = 2
    assert fetch("doid", tmp_path, table=home(server, "cut.obo")).read_bytes() == CONTENT
    assert server.asked[0] is None
    came = int(str(server.asked[1]).removeprefix("bytes=").removesuffix("-"))
    assert len(CONTENT) // 2 - CHUNK <= came <= len(CONTENT) // 2


def test_what_is_cut_again_and_again_is_kept_for_the_next_call(
    tmp_path: Path, server: Server
) -> None:
    server.cuts = 3
    with pytest.raises(ServiceError, match=r"(?s)was cut.*goes on after [\d,]+ bytes"):
        fetch("doid", tmp_path, table=home(server, "cut.obo"))
    assert "doid.obo" not in left(tmp_path)
    assert fetch("doid", tmp_path, table=home(server, "cut.obo")).read_bytes() == CONTENT
    assert server.asked[-1] is not None
    assert left(tmp_path) == {"doid.obo", "source.yaml"}


def test_parts_of_two_editions_are_never_joined(tmp_path: Path, server: Server) -> None:
    server.cuts = 3
    with pytest.raises(ServiceError):
        fetch("doid", tmp_path, table=home(server, "cut.obo"))
    server.tag = '"second"'
    assert fetch("doid", tmp_path, table=home(server, "cut.obo")).read_bytes() == CONTENT


def test_a_missing_file_a_closed_port_and_a_strange_name_are_said(
    tmp_path: Path, server: Server
) -> None:
    with pytest.raises(ServiceError, match=r"(?s)404.*--homes"):
        fetch("doid", tmp_path, table=home(server, "none.obo"))
    with pytest.raises(UsageError, match="doid"):
        fetch("mondo", tmp_path, table=home(server))
    gone = {"doid": Home("doid", "http://127.0.0.1:1/a.obo", "a.obo", "infores:own", "CC0-1.0")}
    with pytest.raises(ServiceError, match=r"(?s)can't be reached.*--knowledge"):
        fetch("doid", tmp_path, table=gone)
    assert left(tmp_path) == set()


def test_another_hash_than_the_table_names_is_refused(tmp_path: Path, server: Server) -> None:
    right = hashlib.sha256(CONTENT).hexdigest()
    assert fetch("doid", tmp_path, table=home(server, sha256=right)).is_file()
    with pytest.raises(InputError, match=f"(?s)not the release.*{'0' * 64}"):
        fetch("doid", tmp_path / "b", table=home(server, sha256="0" * 64))
    assert left(tmp_path / "b") == set()


def test_the_command_lists_and_fetches(tmp_path: Path, server: Server) -> None:
    run = CliRunner()
    shown = run.invoke(app, ["fetch", "--list"]).output
    for name, row in homes().items():
        assert name in shown
        assert row.licence in shown
        assert row.url.startswith("http://purl.obolibrary.org/obo/")
    table = tmp_path / "homes.yaml"
    table.write_text(
        yaml.safe_dump(
            [
                {
                    "name": "own",
                    "url": f"{server.url}/whole.obo",
                    "file": "own.obo",
                    "infores": "infores:own",
                    "licence": "CC-BY-4.0",
                }
            ]
        )
    )
    done = run.invoke(app, ["fetch", "own", "--to", str(tmp_path), "--homes", str(table)])
    assert done.exit_code == 0, done.output
    assert "CC-BY-4.0" in done.output
    assert (tmp_path / "own" / "own.obo").read_bytes() == CONTENT


@pytest.mark.parametrize(
    "text", ["a: 1", "[", "- {name: x}", "- {name: x, url: u, file: ../x, infores: i, licence: l}"]
)
def test_a_table_of_homes_with_a_mistake_is_named(tmp_path: Path, text: str) -> None:
    table = tmp_path / "homes.yaml"
    table.write_text(text)
    with pytest.raises(InputError, match=r"homes\.yaml"):
        homes(table)
