"""The browser of the tests notices what it is there to notice."""

from __future__ import annotations

import pytest

from tests.browser import PHONE, visit

GOOD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>t</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"></head>
<body><main><h1 id="a">A page</h1><p><a href="#a">up</a></p>%s</main></body></html>"""

FAULTS = {
    "<script>console.warn('x')</script>": "assert_quiet",
    "<script>throw new Error('x')</script>": "assert_quiet",
    "<script>fetch('http://127.0.0.1:9/x').catch(() => 0)</script>": "assert_quiet",
    "<script src='http://example.org/x.js'></script>": "assert_quiet",
    "<img src='other.png' alt='x'>": "assert_quiet",
    "<div style='width:900px'>wide</div>": "assert_fits",
    "<p><a href='#b'>lost</a></p>": "assert_anchors_resolve",
    "<p id='a'>twice</p>": "assert_anchors_resolve",
    "<img src='data:image/png;base64,AAAA' alt='x'>": "assert_drawn",
    "<p style='color:#bbb'>pale</p>": "assert_accessible",
    "<button></button>": "assert_accessible",
    "<svg role='img' width='9' height='9'></svg>": "assert_accessible",
}


def test_a_page_without_fault_passes(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(GOOD % "")
    for scheme in ("light", "dark"):
        with visit(browser, path.as_uri(), PHONE, scheme=scheme) as seen:
            seen.assert_sound()


def test_each_fault_is_noticed_by_its_own_check(browser, tmp_path):
    for at, (fault, check) in enumerate(FAULTS.items()):
        path = tmp_path / f"{at}.html"
        path.write_text(GOOD % fault)
        with visit(browser, path.as_uri(), PHONE) as seen, pytest.raises(AssertionError):
            getattr(seen, check)()
