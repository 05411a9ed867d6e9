"""Prompts: files with a version, readable and replaceable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from ehrkg.foundation.errors import InputError, UsageError


@dataclass(frozen=True)
class Prompt:
    """A prompt file.

    Attributes:
        name: ``pair`` or ``visit``, or a user's file by its stem.
        version: raised with every change of the words.
        system: what the model is told it is for.
        text: a Jinja template.
    """

    name: str
    version: str
    system: str
    text: str

    @property
    def label(self) -> str:
        """Name and version, as recorded with each answer.

        >>> shipped_prompt("pair").label
        'pair 1'
        """
        return f"{self.name} {self.version}"

    def fill(self, **values: Any) -> str:
        """The text with its values.

        Raises:
            UsageError: the template is broken or names something that it is not given.
        """
        import jinja2

        try:
            return str(_template(self.text).render(values)).strip()
        except jinja2.TemplateError as error:
            raise UsageError(
                f"the prompt {self.name!r} can't be filled: {error}",
                todo="ehrkg/propose/models/prompts/ shows what a prompt may name",
            ) from error


@cache
def _template(text: str) -> Any:
    """A prompt's text, compiled once: a hospital has tens of thousands of pairs to ask about."""
    import jinja2

    # Plain text for a model, not a web page: nothing is to be escaped.
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701
    return environment.from_string(text)


@cache
def shipped_prompt(name: str) -> Prompt:
    """A prompt that comes with the package: ``pair`` or ``visit``."""
    return read_prompt(Path(str(files("ehrkg.propose.models") / "prompts" / f"{name}.yaml")))


def read_prompt(path: Path) -> Prompt:
    """Read a prompt file.

    Raises:
        InputError: it is not there, is no YAML, or lacks version, system or text.
    """
    try:
        row = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("no such prompt", file=path, todo="mend the path") from error
    except yaml.YAMLError as error:
        raise InputError("not YAML", file=path, found=str(error).splitlines()[0]) from error
    given = row if isinstance(row, dict) else {}
    lacking = [name for name in ("version", "system", "text") if not given.get(name)]
    if lacking:
        raise InputError(
            f"the prompt lacks {', '.join(lacking)}", file=path, expected="version, system, text"
        )
    return Prompt(path.stem, str(row["version"]), str(row["system"]), str(row["text"]))
