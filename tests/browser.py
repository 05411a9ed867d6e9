"""A real browser for the tests of pages: Debian's Chromium, driven by Playwright.

A test takes the fixture ``browser`` and looks at a page with ``visit``::

    def test_the_page_holds(browser):
        with visit(browser, path.as_uri(), PHONE) as seen:
            seen.page.get_by_role("button", name="next").click()
            seen.assert_sound()

Nothing but the page's own origin answers: every other request fails and is a problem of the page.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request

PHONE, DESKTOP = (390, 844), (1280, 900)
"""Widths and heights of a window, in CSS pixels."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
INLINE = ("data", "blob", "about")


@pytest.fixture(scope="module")
def browser(not_here: Callable[[str], NoReturn]) -> Iterator[Browser]:
    """Chromium without a window; it ends with the module, since its loop bars ``asyncio.run``."""
    program = os.environ.get("EHRKG_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), "")
    if not program:
        not_here("no Chromium on this machine (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=program,
            args=[
                "--no-sandbox",
                "--disable-dev-shm-usage",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
            ],
        )
        yield started
        started.close()


@dataclass
class Visit:
    """A page that is open, and what went wrong on it so far.

    Attributes:
        page: Playwright's page.
        problems: errors and warnings of the console, exceptions, and requests to elsewhere.
    """

    page: Page
    problems: list[str] = field(default_factory=list)

    def assert_sound(self) -> None:
        """Everything below; what a page must hold at any width and in any state."""
        self.assert_quiet()
        self.assert_fits()
        self.assert_anchors_resolve()
        self.assert_drawn()
        self.assert_accessible()

    def assert_quiet(self) -> None:
        """Nothing failed, nothing was complained of, nothing was asked of another place."""
        # what a page asks for or throws while it loads is told a moment after it has loaded
        self.page.wait_for_load_state("networkidle")
        self.page.evaluate("() => new Promise(done => setTimeout(done))")
        assert not self.problems, "\n".join(self.problems)

    def assert_fits(self) -> None:
        """The page does not scroll sideways."""
        wide = self.page.evaluate(
            """() => {
                const width = document.documentElement.clientWidth;
                if (document.documentElement.scrollWidth <= width) return [];
                return [...document.querySelectorAll("body *")]
                    .filter(e => e.getBoundingClientRect().right > width + 1)
                    .slice(-5).map(e => e.outerHTML.slice(0, 160));
            }"""
        )
        assert not wide, "wider than the window:\n" + "\n".join(wide)

    def assert_anchors_resolve(self) -> None:
        """Every link within the page leads somewhere, and no id stands twice."""
        lost = self.page.evaluate(
            """() => {
                const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
                const links = [...document.querySelectorAll('a[href^="#"]')];
                return [
                    ...links.map(a => decodeURIComponent(a.hash.slice(1)))
                        .filter(id => id && !ids.includes(id)).map(id => "no target: #" + id),
                    ...ids.filter((id, at) => ids.indexOf(id) !== at).map(id => "twice: #" + id),
                ];
            }"""
        )
        assert not lost, "\n".join(lost)

    def assert_drawn(self) -> None:
        """Every picture and frame that shows is loaded and has a size."""
        blank = self.page.evaluate(
            """() => {
                const shown = e => e.checkVisibility() && !e.closest("details:not([open])");
                const pictures = [...document.querySelectorAll("img")].filter(shown);
                const drawn = [...document.querySelectorAll("svg, canvas, iframe")].filter(shown);
                const empty = e => e.getBoundingClientRect().height < 2;
                return [
                    ...pictures.filter(e => !e.complete || !e.naturalWidth),
                    ...drawn.filter(empty),
                ].map(e => e.outerHTML.slice(0, 160));
            }"""
        )
        assert not blank, "not drawn:\n" + "\n".join(blank)
        for frame in self.page.frames[1:]:
            assert frame.locator("body > *").count(), f"an empty frame: {frame.url}"

    def assert_accessible(self, within: str | None = None) -> None:
        """Deque's axe finds no fault: contrast, names, roles, alternatives, order of headings.

        Args:
            within: a CSS selector, where only a part of the page is meant.
        """
        found = self.page.evaluate(_axe_script()) or self.page.evaluate(
            "within => axe.run(within || document, {resultTypes: ['violations'], iframes: false})",
            within,
        )
        faults = [
            f"{fault['id']} ({fault['impact']}): {fault['help']}\n    "
            + "\n    ".join(f"{n['html'][:200]}: {n['failureSummary']}" for n in fault["nodes"][:3])
            for fault in found["violations"]
        ]
        assert not faults, "\n".join(faults)


@contextmanager
def visit(
    browser: Browser, url: str, size: tuple[int, int] = DESKTOP, *, scheme: str = "light"
) -> Iterator[Visit]:
    """Open a page; only its own origin (or its own file) can be reached from it.

    Args:
        browser: the fixture.
        url: ``http://127.0.0.1:…`` or ``Path.as_uri()``.
        size: of the window; ``PHONE`` is a touch screen too.
        scheme: "light" or "dark", as the reader's system prefers.
    """
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        has_touch=size == PHONE,
        reduced_motion="reduce",
    )
    page = context.new_page()
    seen = Visit(page)
    listen(seen, url)
    try:
        page.goto(url, wait_until="load")
        yield seen
    finally:
        context.close()


def listen(seen: Visit, url: str) -> None:
    """Note what a page complains of, and refuse what it asks of another place than its own."""

    def own(asked: str) -> bool:
        there, here = urlsplit(asked), urlsplit(url)
        if there.scheme in INLINE:
            return True
        if here.scheme == "file":
            return there.scheme == "file" and there.path == here.path
        return (there.scheme, there.netloc) == (here.scheme, here.netloc)

    def on_request(request: Request) -> None:
        if not own(request.url):
            seen.problems.append(f"asked of elsewhere: {request.method} {request.url}")

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            seen.problems.append(f"console {message.type}: {message.text}")

    def on_error(error: Error) -> None:
        seen.problems.append(f"exception: {error}")

    seen.page.on("request", on_request)
    seen.page.on("console", on_console)
    seen.page.on("pageerror", on_error)
    seen.page.route(
        "**/*", lambda route: route.fallback() if own(route.request.url) else route.abort()
    )


def _axe_script() -> str:
    import axe_playwright_python

    folder = Path(axe_playwright_python.__file__).parent
    return (folder / "axe.min.js").read_text(encoding="utf-8") + "\n;null"


def text_of(page: Page) -> Any:
    """All the text of a page, hidden parts too, with alternatives, titles and labels."""
    return page.evaluate(
        """() => [
            document.documentElement.textContent,
            ...[...document.querySelectorAll("[alt], [title], [aria-label]")].flatMap(
                e => ["alt", "title", "aria-label"].map(name => e.getAttribute(name) || "")),
        ].join("\\n")"""
    )
