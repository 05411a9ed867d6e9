"""What check and the hiding of edges hold a benchmark to, as data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def bounds() -> Mapping[str, Any]:
    """The bounds of check.yaml, read once.

    >>> sorted(bounds())
    ['adversary', 'hidden_edges']
    """
    data: Mapping[str, Any] = yaml.safe_load(
        Path(__file__).with_name("check.yaml").read_text(encoding="utf-8")
    )
    return data
