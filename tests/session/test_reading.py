"""``ehrkg view --blind``: two readers, one sample, the key after the answer, nothing lost."""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from ehrkg.benchmark.opened.reviews import QUESTION, Mark, read_marks
from ehrkg.benchmark.opened.source import Source
from ehrkg.evaluation.readers.agreement import review_summary
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.storage import write_parquet
from ehrkg.session.view import modes
from ehrkg.session.view.application import application
from ehrkg.session.view.command import review_lines
from ehrkg.session.view.evidence import Evidence
from ehrkg.session.view.guard import Guard, Secrets
from ehrkg.session.view.marking import append
from ehrkg.session.view.sampling import draw_questions, sample
from tests.browser import PHONE, visit
from tests.session.test_view import viewing

SOUND = {"answerable": "yes", "single_answer": "yes", "plausible": "yes", "harmful": "no"}


def copied(built: Path, to: Path) -> Path:
    """What reading needs of a build: not its graph, which is slow to copy."""
    to.mkdir()
    for path in built.iterdir():
        if path.suffix in (".parquet", ".json"):
            shutil.copy(path, to)
    return to


@pytest.fixture
def out(built_demo: Path, tmp_path: Path) -> Path:
    return copied(built_demo / "benchmark", tmp_path / "out")


@pytest.fixture
def read(out: Path) -> Callable[..., TestClient]:
    """A reader's pages without a socket."""

    def start(reader: str = "A", n: int | None = 6, folder: Path = out) -> TestClient:
        routes = modes.questions_blind(folder, Evidence(folder), reader, n, 7, "f")
        guard = Guard(application(routes), host="127.0.0.1", port=80, kept=Secrets("", form="f"))
        return TestClient(guard, base_url="http://127.0.0.1", follow_redirects=False)

    return start


def item_on(client: TestClient) -> str:
    found = re.search(r'name="id" value="([^"]+)"', client.get("/").text)
    assert found
    return found[1]


def say(client: TestClient, step: str, **form: str) -> int:
    return client.post(f"/said/{step}", data={"form": "f", **form}).status_code


def keyed_otherwise(items: pa.Table) -> pa.Table:
    """The same questions with another option as the key."""
    rows = items.to_pylist()
    for row in rows:
        if row["options"]:
            at = (row["answer_index"] + 1) % len(row["options"])
            reasons = [f"reason {n}" for n in range(len(row["options"]))]
            reasons[at] = "answer"
            row |= {
                "answer_index": at,
                "answer": [row["options"][at]],
                "distractor_reasons": reasons,
                "option_codes": [f"X:{n}" for n in range(len(row["options"]))],
            }
    return pa.Table.from_pylist(rows, items.schema)


def test_no_byte_of_a_page_depends_on_the_key_before_it_may_be_seen(out, read, tmp_path):
    other = copied(out, tmp_path / "other")
    items = keyed_otherwise(pq.read_table(out / "items.parquet"))
    write_parquet(items, other / "items.parquet")
    clients = [read(), read(folder=other)]
    for step in ("answer", "rate"):
        first, second = (client.get("/").content for client in clients)
        assert first == second, step
        for client in clients:
            for hidden in ("/key/1", "/key/1/picture", "/question/x", "/picture/x", "/?text=x"):
                answer = client.get(hidden)
                assert answer.status_code in (403, 404) or answer.content == first
            assert say(client, "answer", id=item_on(client), answer="0") == 303
    for client in clients:
        assert say(client, "ratings", id=item_on(client), **SOUND) == 303
    first, second = (client.get("/key/1").content for client in clients)
    assert first != second


def test_the_first_answer_counts_and_cannot_be_changed(out, read):
    client = read()
    item = item_on(client)
    say(client, "ratings", id=item, **SOUND)  # before the answer: not taken
    assert not read_marks(out).lines
    say(client, "answer", id=item, answer="1")
    say(client, "answer", id=item, answer="2")
    say(client, "ratings", id=item, **SOUND, comment="so so")
    say(client, "ratings", id=item, **SOUND | {"harmful": "yes"})
    say(client, "remark", id=item, comment="the key is odd")
    review = read_marks(out).reviews(QUESTION)["A", item]
    assert review.answered == (1,)
    assert not review.bad
    assert review.comments == ("so so", "the key is odd")
    assert len(read_marks(out).lines) == 3


def test_what_cannot_be_is_not_recorded(out, read):
    client = read()
    item = item_on(client)
    for answer in ("", "9", "x", "0 1", "unsure 1"):
        assert say(client, "answer", id=item, answer=answer) == 400
    assert say(client, "answer", id="no such", answer="0") == 404
    assert say(client, "elsewhere", id=item, answer="0") == 404
    assert say(client, "answer", id=item, answer="unsure") == 303
    assert say(client, "ratings", id=item, **SOUND | {"harmful": "maybe"}) == 400
    assert [one.answered for one in read_marks(out).lines] == [()]


def test_a_question_that_reads_otherwise_now_is_read_anew(out, read):
    client = read()
    item = item_on(client)
    say(client, "answer", id=item, answer="1")
    say(client, "ratings", id=item, **SOUND)
    rows = pq.read_table(out / "items.parquet")
    stems = [
        f"{row['stem']} Say." if row["item_id"] == item else row["stem"]
        for row in rows.select(["item_id", "stem"]).to_pylist()
    ]
    at = rows.column_names.index("stem")
    write_parquet(rows.set_column(at, "stem", pa.array(stems)), out / "items.parquet")
    assert review_summary(out) is None
    again = read()
    assert item_on(again) == item
    say(again, "answer", id=item, answer="2")
    assert read_marks(out).reviews(QUESTION)["A", item].answered == (2,)


def test_the_sample_is_of_all_kinds_and_asks_no_case_twice(out):
    source = Source(out / "items.parquet", out / "templates.parquet", {})
    drawn = draw_questions(source, 60, seed=7)
    items = {row["item_id"]: row for row in pq.read_table(out / "items.parquet").to_pylist()}
    rows = [items[name] for name in drawn]
    assert len(rows) == 60
    assert len({row["template_id"] for row in rows}) == 60
    kinds = {(row["task"], row["n_options"]) for row in items.values() if row["format"] == "mcq"}
    assert {(row["task"], row["n_options"]) for row in rows} == kinds
    assert len({row["relation_id"] for row in rows}) > 45
    assert drawn == draw_questions(source, 60, seed=7) != draw_questions(source, 60, seed=8)
    assert len(draw_questions(source, 10**6, seed=7)) < 10**6


def test_the_sample_is_drawn_once_for_all_readers(out):
    source = Source(out / "items.parquet", out / "templates.parquet", {})
    first = sample(out, source, QUESTION, n=5, seed=7)
    assert sample(out, source, QUESTION, seed=9) == first
    with pytest.raises(UsageError, match="a sample of 5 is being read here, not of 6"):
        sample(out, source, QUESTION, n=6)
    (out / "review" / "sample.json").write_text('{"question": 3}')
    with pytest.raises(InputError, match="this is no sample for readers"):
        sample(out, source, QUESTION)


def test_after_a_line_that_was_cut_off_a_new_one_begins(out):
    first, second = (Mark(QUESTION, name, "A", "answer", "", (0,)) for name in ("i1", "i2"))
    append(out, first)
    path = out / "review" / "marks.jsonl"
    path.write_bytes(path.read_bytes() + b'{"what": "question", "id": "i')
    append(out, second)
    marks = read_marks(out)
    assert (marks.lines, marks.torn) == ((first, second), 1)


def test_without_a_name_nobody_reads(out):
    with pytest.raises(UsageError, match="who reads"):
        modes.questions_blind(out, Evidence(out), " ", 5, 7, "f")


def read_one(page, key: str = "1", *, harmful: bool = False) -> None:
    """Answer and rate the question on a page by keys alone."""
    page.keyboard.press(key)
    page.keyboard.press("Space")
    page.wait_for_selector("fieldset.rating")
    page.wait_for_load_state()  # the script that hears keys is there
    for number in "1234":
        page.keyboard.press(number)
    if harmful:
        page.keyboard.press("4")
    page.keyboard.press("Space")
    page.wait_for_url("**/key/*")


def go_on(page) -> None:
    """From a key to the next question, by the space bar."""
    page.keyboard.press("Space")
    page.wait_for_url(lambda url: "/key/" not in url)


def marked(address: str) -> str:
    """Record an answer as a browser does, and come back only when it says it is recorded."""
    host = urlsplit(address).netloc
    connection = HTTPConnection(host)
    connection.request("GET", "/")
    text = connection.getresponse().read().decode()
    fields = dict(re.findall(r'name="(form|id)" value="([^"]+)"', text))
    body = urlencode(fields | {"answer": "0"})
    connection.request("POST", "/said/answer", body)
    assert connection.getresponse().status == 303
    connection.close()
    return fields["id"]


def test_two_readers_read_by_keys_through_a_kill_and_agree(browser, built_demo, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(built_demo / "benchmark", out)
    options = ("--blind", "--sample", "3", "--reader")
    with viewing(out, *options, "Dr <b>A</b>") as (address, process):
        with visit(browser, address, PHONE) as seen:
            page = seen.page
            assert page.get_by_text("reader Dr <b>A</b>: 0 of 3 questions read").count()
            seen.assert_sound()
            page.keyboard.press("1")
            page.keyboard.press("Space")
            page.wait_for_selector("fieldset.rating")
            page.wait_for_load_state()
            seen.assert_sound()
            page.keyboard.press("Space")  # nothing is rated yet: it stays
            for number in "12344":
                page.keyboard.press(number)
            page.get_by_label("Comment, if you like").fill("no <i>markup</i>")
            page.get_by_role("button", name="Show the key").click()
            page.wait_for_url("**/key/1")
            assert page.frame_locator("iframe.picture").locator(".card").count()
            seen.assert_sound()
            go_on(page)
        item = marked(address)
        process.send_signal(signal.SIGKILL)
    kept = read_marks(out)
    assert (kept.lines[-1].id, kept.torn) == (item, 0)
    with (
        viewing(out, "--blind", "--reader", "Dr <b>A</b>") as (address, _),
        visit(browser, address) as seen,
    ):
        page = seen.page
        assert page.get_by_text("1 of 3 questions read").count()
        for number in "1234":
            page.keyboard.press(number)
        page.keyboard.press("Space")
        page.wait_for_url("**/key/2")
        go_on(page)
        read_one(page)
        page.get_by_role("link", name="To the end").click()
        assert page.get_by_role("heading", name="You have read all 3 questions").count()
        assert not page.get_by_text("AC1").count()
        seen.assert_sound()
    with (
        viewing(out, "--blind", "--reader", "B") as (address, _),
        visit(browser, address) as seen,
    ):
        for number in range(3):
            read_one(seen.page, harmful=number == 0)
            go_on(seen.page)
        assert seen.page.get_by_text("Gwet's AC1").count()
        seen.assert_sound()
    lines = review_lines(out)
    assert lines[0] == "(reader 1 is B; reader 2 is Dr <b>A</b>)"
    assert any("answer: agreement 100.0 %" in line for line in lines)
    assert any("harmful: agreement 100.0 %" in line for line in lines)
    found = review_summary(out)
    assert found is not None
    assert (found.questions, found.twice) == (3, 3)
    assert json.loads(json.dumps(found.as_json()))["bad"]["value"] == pytest.approx(1 / 3)
