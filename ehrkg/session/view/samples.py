"""The file of what was drawn for readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ehrkg.foundation.errors import InputError

SAMPLE = "sample.json"


def read_samples(path: Path) -> dict[str, dict[str, Any]]:
    """What sample.json holds, by what was drawn; nothing where there is none.

    Raises:
        InputError: it is no such file.
    """
    if not path.is_file():
        return {}
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(one["ids"], list) and "asked" in one for one in said.values()):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            "this is no sample for readers",
            file=path,
            expected="an object with ids by what was drawn",
            todo="take the file away: the same sample is drawn again by its seed",
        ) from error
    kept: dict[str, dict[str, Any]] = said
    return kept
