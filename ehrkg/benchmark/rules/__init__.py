"""The rules of a sound benchmark, as data: one file a matter, read once and never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml


@cache
def rule_table(name: str) -> Mapping[str, Any]:
    """The rules of a file of this folder that is a table of names.

    Args:
        name: of the file, without ``.yaml``.

    >>> sorted(rule_table("check"))
    ['adversary', 'hidden_edges']
    """
    return MappingProxyType(_read(name))


def rule_rows(name: str) -> Sequence[Mapping[str, Any]]:
    """The rules of a file of this folder that is a list of rows.

    Args:
        name: of the file, without ``.yaml``.

    >>> rule_rows("revealing")[0]["family"]
    'long-term drug use names the drug'
    """
    rows: Sequence[Mapping[str, Any]] = _read(name)
    return rows


@cache
def _read(name: str) -> Any:
    return yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8"))
