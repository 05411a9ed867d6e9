"""The formats of hospital tables, one declaration a file: a new format is a new YAML file here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import yaml

from ehrkg.ehr.formats.language import Field, Format, Lookup, Pick, Unit, as_format
from ehrkg.foundation.errors import UsageError

__all__ = ["Field", "Format", "Lookup", "Pick", "Unit", "format_named", "formats"]


@cache
def formats() -> Mapping[str, Format]:
    """Every format by name.

    >>> formats()["mimic4"].needed[:2]
    ('patients', 'admissions')
    """
    files = sorted(Path(__file__).parent.glob("*.yaml"))
    found = [as_format(yaml.safe_load(file.read_text(encoding="utf-8"))) for file in files]
    return MappingProxyType({each.name: each for each in found})


def format_named(name: str) -> Format:
    """The format of that name.

    Raises:
        UsageError: there is none; the message lists those there are.

    >>> format_named("omop").title
    'OMOP ...'
    """
    if name not in formats():
        raise UsageError(
            f"unknown format: {name!r}",
            todo="use one of " + ", ".join(formats()) + ", or a mapping of your own tables (.yaml)",
        )
    return formats()[name]
