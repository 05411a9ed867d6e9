"""What stands behind an answer: the chain out of the graph, and names of codes."""

from __future__ import annotations

import base64
import hashlib
import re
import threading
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

from starlette.responses import HTMLResponse

from ehrkg.foundation.workspace import read_manifest
from ehrkg.graph import GraphStore, open_store
from ehrkg.graph.explain import explain_template
from ehrkg.graph.explanation import Explanation
from ehrkg.graph.picture_explanation import draw
from ehrkg.graph.place import place_of

_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class Evidence:
    """The graph of a build, opened when it is first asked; requests take turns.

    Args:
        out: the build's folder; its manifest says where the graph is.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        self._turn = threading.RLock()
        self._open = ExitStack()
        self._store: GraphStore | None = None

    def close(self) -> None:
        """Let go of the graph."""
        with self._turn:
            self._open.close()
            self._store = None

    def _asked(self) -> GraphStore:
        if self._store is None:
            place = place_of(self._out, read_manifest(self._out))
            self._store = self._open.enter_context(open_store(place, read_only=True))
        return self._store

    def chain(self, template_id: str) -> Explanation:
        """The whole chain behind a template.

        Raises:
            EhrkgError: the graph is not there or damaged, another process writes it, or it holds no
                such template.
        """
        with self._turn:
            return explain_template(self._asked(), template_id)

    @cached_property
    def names(self) -> dict[str, str]:
        """What people call the codes of the hospital's tables, by their ids.

        Raises:
            EhrkgError: the graph is not there or damaged, or another process writes it.
        """
        with self._turn:
            table = self._asked().read_nodes("Code").select(["id", "name", "tree_name"])
        return {
            row["id"]: row["name"] or row["tree_name"] or row["id"] for row in table.to_pylist()
        }


def picture(found: Explanation) -> HTMLResponse:
    """The picture of a chain, as a page for a frame: only its own script runs, in a sandbox."""
    text = draw(found).page()
    scripts = " ".join(f"'sha256-{_digest(one)}'" for one in _SCRIPT.findall(text))
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
    )
    headers = {"Content-Security-Policy": policy, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(_without_own_policy(text), headers=headers)


def _without_own_policy(text: str) -> str:
    """The page without the policy in its head, which is laxer than the header's."""
    return re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n?', "", text, count=1)


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def claim_of(relation: dict[str, Any], names: dict[str, str]) -> dict[str, str]:
    """A relation in words: its two ends by name, with their codes.

    >>> row = {"head": "ICD10CM:E11.9", "route": "", "predicate": "CAUSES", "tail": "X:1"}
    >>> claim_of(row, {"ICD10CM:E11.9": "type 2 diabetes"})["words"]
    'type 2 diabetes causes X:1'
    """
    from ehrkg.ontology.predicates import PREDICATES

    predicate = relation["predicate"]
    words = PREDICATES[predicate].words if predicate in PREDICATES else predicate.lower()
    head = names.get(relation["head"], relation["head"])
    if relation["route"]:
        head = f"{head} ({relation['route'].replace('|', ' or ')})"
    tail = names.get(relation["tail"], relation["tail"])
    return {
        "head": head,
        "tail": tail,
        "predicate": words,
        "words": f"{head} {words} {tail}",
        "codes": f"{relation['head']} {predicate} {relation['tail']}",
    }
