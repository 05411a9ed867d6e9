"""Make the README's pictures again: the report, and the evidence behind one question.

    python tests/benchmarks/pictures.py [--benchmark ehrkg-demo/benchmark] [--to examples/pictures]

Both come from the synthetic demo (``ehrkg demo``), never from patients. The report is photographed
by Chromium; the graph is the program's own SVG.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from ehrkg.evaluation.report import write_report
from ehrkg.evaluation.report.gathering import report_of_build

STYLE = (
    "<style>text{font:12.5px system-ui,sans-serif}.bold{font-weight:600}.heading{font-size:13px;"
    "font-weight:600;fill:#4b5563}.label{font-size:11.5px;text-anchor:middle;paint-order:stroke;"
    "stroke:#fff;stroke-width:4px;stroke-linejoin:round}.join{fill:none}svg{background:#fff}</style>"
)
"""What the page around a drawing gives it, for a drawing that stands alone."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmark", type=Path, default=Path("ehrkg-demo/benchmark"))
    parser.add_argument("--to", type=Path, default=Path("examples/pictures"))
    said = parser.parse_args()
    said.to.mkdir(parents=True, exist_ok=True)
    data = report_of_build(said.benchmark)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        write_report(data, page)
        photograph(page, said.to / "report.png")
    drawing = smallest(data.pictures)
    at = drawing.index(">") + 1
    (said.to / "evidence.svg").write_text(drawing[:at] + STYLE + drawing[at:], encoding="utf-8")
    for path in sorted(said.to.iterdir()):
        print(path, f"{path.stat().st_size / 1000:.0f} kB")


def photograph(page: Path, target: Path) -> None:
    """Two screens of the report side by side: its head and figures, and one question."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        at = browser.new_page(viewport={"width": 1120, "height": 820})
        at.goto(page.resolve().as_uri())
        at.evaluate("document.querySelector('#leaderboard').scrollIntoView({behavior: 'instant'})")
        at.screenshot(path=target)
        browser.close()


def smallest(pictures: dict[str, str]) -> str:
    """The drawing that is quickest to take in, of those that show a path of two steps or more."""
    stepped = [one for one in pictures.values() if one.count('marker-end="url(') >= 4]
    return min(stepped or pictures.values(), key=len)


if __name__ == "__main__":
    main()
