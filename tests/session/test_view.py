"""``ehrkg view``: a real server on this machine, looked at by a real browser."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from ehrkg.foundation.errors import InputError, ServiceError
from ehrkg.foundation.storage import write_parquet
from ehrkg.session.view.application import application
from ehrkg.session.view.browsing import Browser
from ehrkg.session.view.evidence import Evidence
from ehrkg.session.view.guard import Guard, Secrets
from ehrkg.session.view.question_routes import QuestionPages
from ehrkg.session.view.serving import listen
from tests.browser import PHONE, visit
from tests.processes import ending_with_tests

CALL = [sys.executable, "-c", "from ehrkg.cli import main; main()", "view"]
MARKUP = "<script>alert(1)</script><b>bold</b> & \"quoted\" 'so'"


@contextmanager
def viewing(out: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A running ``ehrkg view``, and its address."""
    with subprocess.Popen(
        ending_with_tests(*CALL, str(out), "--no-browser", "--port", "0", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            found = re.search(r"http://\S+", said)
            assert found, said
            yield found[0], process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def out(built_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo's build, in which one question's stem and options hold markup."""
    folder = tmp_path_factory.mktemp("viewed") / "benchmark"
    shutil.copytree(built_demo / "benchmark", folder)
    items = pq.read_table(folder / "items.parquet")
    rows = items.to_pylist()
    at = next(n for n, row in enumerate(rows) if row["format"] == "mcq")
    rows[at]["stem"] = f"{MARKUP} Which?"
    rows[at]["options"][0] = MARKUP
    write_parquet(pa.Table.from_pylist(rows, items.schema), folder / "items.parquet")
    return folder


@pytest.fixture(scope="module")
def served(out: Path) -> Iterator[str]:
    with viewing(out) as (address, _):
        yield address


def test_questions_are_found_filtered_and_followed_to_their_rows(browser, served, out):
    with visit(browser, served) as seen:
        page = seen.page
        total = pq.read_metadata(out / "items.parquet").num_rows
        assert page.get_by_role("heading", level=1).inner_text() == f"{total:,} questions"
        page.get_by_text("Filters").click()
        page.get_by_label("task").select_option("treatment")
        page.get_by_label("options").select_option("5")
        page.get_by_role("button", name="Show").click()
        items = pq.read_table(out / "items.parquet", columns=["task", "n_options"]).to_pylist()
        many = sum(row == {"task": "treatment", "n_options": 5} for row in items)
        assert page.get_by_role("heading", level=1).inner_text() == f"{many:,} questions"
        page.get_by_role("link", name="Next").click()
        seen.assert_sound()
        page.locator(".list a").nth(1).click()
        page.get_by_role("link", name="Next").click()
        page.get_by_role("link", name="Before").click()
        assert page.locator(".options li").count() == 5
        assert page.get_by_text("✓ the answer").count() == 1
        assert page.get_by_text("hosp/prescriptions.csv").count()
        frame = page.frame_locator("iframe.picture")
        frame.locator(".card").first.click()  # its own script runs, in a sandbox
        assert frame.locator(".dim").count()
        seen.assert_sound()


def test_a_question_has_an_address_and_reads_well_on_a_phone(browser, served, out):
    item = pq.read_table(out / "items.parquet", columns=["item_id"])["item_id"][40].as_py()
    with visit(browser, f"{served}question/{item}", PHONE) as seen:
        assert seen.page.get_by_text(item, exact=True).count()
        seen.assert_sound()
        seen.page.goto(served)
        seen.page.get_by_label("Words, or a question's id").fill(item)
        seen.page.get_by_role("button", name="Show").click()
        assert item in seen.page.url
    with visit(browser, served, PHONE) as seen:
        seen.assert_sound()


def test_markup_in_names_stays_text(browser, served):
    with visit(browser, f"{served}?text=%3Cscript%3E") as seen:
        assert seen.page.get_by_text(MARKUP).count()
        seen.page.locator(".list a").first.click()
        assert seen.page.locator(".options").get_by_text(MARKUP).count()
        seen.assert_quiet()


@pytest.fixture(scope="module")
def browsed(out: Path) -> Browser:
    return Browser(out)


def test_every_filter_gives_what_the_files_hold(out, browsed):
    items = pq.read_table(out / "items.parquet").to_pylist()
    templates = {row["id"]: row for row in pq.read_table(out / "templates.parquet").to_pylist()}
    scores = pq.read_table(out / "scores.parquet").to_pylist()
    wrong = {
        row["item_id"]
        for row in scores
        if row["model"] == "most frequent option"
        and row["setting"] == "plain"
        and row["correct"] == 0
    }
    relation = items[7]["relation_id"]
    expected = {
        ("split", "test"): lambda row: row["split"] == "test",
        ("timing", "discharge_coded"): lambda row: row["timing"] == "discharge_coded",
        ("format", "oeq"): lambda row: row["format"] == "oeq",
        ("strategy", "frequency"): lambda row: row["strategy"] == "frequency",
        ("flag", "newly_recorded"): lambda row: "newly_recorded" in row["flags"],
        ("relation", relation): lambda row: row["relation_id"] == relation,
        ("score", "0.95"): lambda row: templates[row["template_id"]]["score"] >= 0.95,
        ("text", "Gout"): lambda row: "gout" in (row["stem"] + " ".join(row["options"])).lower(),
        ("reviewed", "sound"): lambda _row: False,
        ("reviewed", "not reviewed"): lambda _row: True,
    }
    for (name, value), holds in expected.items():
        total, rows = browsed.found({name: value}, 0)
        names = [row["item_id"] for row in items if holds(row)]
        assert (total, [row["item_id"] for row in rows]) == (len(names), names[:25]), name
    total, _ = browsed.found({"model": "most frequent option", "answered": "wrong"}, 0)
    assert total == len(wrong)
    for rule in browsed.choices.get("fails", ()):
        assert browsed.found({"fails": rule}, 0)[0] > 0


@pytest.fixture(scope="module")
def pages(out: Path, browsed: Browser) -> QuestionPages:
    return QuestionPages(out, browsed, Evidence(out))


def guarded(pages: QuestionPages, host: str = "127.0.0.1", token: str = "") -> TestClient:
    guard = Guard(application(pages.routes()), host=host, port=80, kept=Secrets(token, form="f"))
    return TestClient(guard, base_url="http://127.0.0.1", follow_redirects=False)


def test_every_answer_forbids_what_is_elsewhere_and_is_not_kept(pages):
    client = guarded(pages)
    for path in ("/", "/question/none", "/static/view.css", "/nowhere"):
        headers = client.get(path).headers
        assert headers["cache-control"] == "no-store"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["x-frame-options"] == "DENY"
        assert "unsafe" not in headers["content-security-policy"]


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1.evil.example", "localhost@evil", ""])
def test_another_name_is_not_answered(pages, name):
    assert guarded(pages).get("/", headers={"host": name}).status_code == 421


def test_a_tunnel_to_loopback_is_answered(pages):
    assert guarded(pages).get("/", headers={"host": "localhost:9999"}).status_code == 200


def test_a_change_must_come_from_a_page_of_this_server(pages):
    client = guarded(pages)
    form = {"form": "f"}
    elsewhere = {"origin": "http://evil.example"}
    assert client.post("/", data=form, headers=elsewhere).status_code == 403
    assert client.post("/", data=form, headers={"origin": "null"}).status_code == 403
    assert client.post("/", data=form, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert client.post("/", data={"form": "g"}).status_code == 403
    assert client.post("/", data={"form": "f", "x": "y" * 70_000}).status_code == 413
    assert client.post("/", data=form).status_code == 405  # let in: that page takes no form


def test_elsewhere_nothing_is_shown_without_the_token(pages):
    client = guarded(pages, "0.0.0.0", "secret")
    for path in ("/", "/?token=", "/?token=secre", "/question/x", "/picture/x"):
        answer = client.get(path)
        assert answer.status_code in (401, 403)
        assert "questions" not in answer.text
        assert "set-cookie" not in answer.headers
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    let_in = client.get("/?task=treatment&token=secret")
    assert (let_in.status_code, let_in.headers["location"]) == (303, "/?task=treatment")
    cookie = let_in.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "secret" not in cookie
    assert client.get("/").status_code == 200


def test_the_token_can_be_typed_in(pages):
    client = guarded(pages, "0.0.0.0", "secret")
    assert client.post("/enter", data={"token": "wrong"}).status_code == 403
    assert client.post("/enter", data={"token": "secret"}).headers["location"] == "/"
    assert client.get("/").status_code == 200


def test_listening_elsewhere_says_the_token_once_and_asks_for_it(out):
    with viewing(out, "--host", "127.0.0.1", "--token") as (address, process):
        host = re.search(r"//([^/]+)/", address)
        assert host
        connection = HTTPConnection(host[1])
        connection.request("GET", "/")
        assert connection.getresponse().status == 401
        connection.close()
        connection.request("GET", "/" + address.rpartition("/")[2])
        assert connection.getresponse().status == 303
        connection.close()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert "Stopped." in rest
    assert "Traceback" not in rest
    assert process.returncode == 0


def test_a_port_that_is_taken_is_told():
    said = r"is taken by another program\n  do: .*--port 0"
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(ServiceError, match=said),
    ):
        listen("127.0.0.1", taken.getsockname()[1])


def test_a_folder_without_a_build_is_told(tmp_path):
    with pytest.raises(InputError, match="this folder holds no finished build"):
        Browser(tmp_path)
