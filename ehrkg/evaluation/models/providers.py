"""Who answers behind a model's name, where that is, and what it needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from ehrkg.foundation.errors import UsageError
from ehrkg.propose.models.places import is_here

HERE, SERVER, SERVICE = "here", "server", "service"
"""In this process; a server of one's own; somebody else's."""

ANY_ADDRESS = "INSPECT_EVAL_MODEL_BASE_URL"
"""Where Inspect looks for an address after the provider's own variables."""


@dataclass(frozen=True)
class Provider:
    """A row of providers.yaml; a provider that has none is a service.

    Attributes:
        name: the first part of a model's name.
        place: ``here``, ``server`` or ``service``.
        variables: of the environment, that hold its address.
        address: a server's, by default.
        started: whether Inspect starts the server where no address is given.
        at_address: arguments of Inspect where an address is given.
        hosted: first parts of a model's name that go to a cloud whatever the address says.
        keys: environment variables any of which holds its key.
        packages: what it needs, with how that comes in.
    """

    name: str
    place: str = SERVICE
    variables: tuple[str, ...] = ()
    address: str | None = None
    started: bool = False
    at_address: Mapping[str, Any] = field(default_factory=dict, hash=False)
    hosted: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict, hash=False)

    def address_for(self, base_url: str | None, environment: Mapping[str, str]) -> str | None:
        """Where it is asked: as the caller says, else the environment, else its default.

        ``None`` for a service's own place, and for a server that Inspect starts.

        >>> provider_of("ollama/llama").address_for(None, {"OLLAMA_BASE_URL": "http://ward:11434"})
        'http://ward:11434'
        """
        said = (environment.get(name) for name in (*self.variables, ANY_ADDRESS))
        found = base_url or next(filter(None, said), None)
        return found or (None if self.started else self.address)

    def is_remote(self, model: str, address: str | None) -> bool:
        """Whether what a model is asked leaves this machine.

        Args:
            model: its name after the provider's.
            address: what ``address_for`` gave.

        >>> provider_of("openai/m").is_remote("m", "http://127.0.0.1:8080/v1")
        False
        >>> provider_of("openai/azure/m").is_remote("azure/m", "http://127.0.0.1:8080/v1")
        True
        >>> [provider_of(f"{name}/m").is_remote("m", None) for name in ("ollama", "google")]
        [False, True]
        """
        if self.place == HERE:
            return False
        if model.split("/")[0] in self.hosted:
            return True
        place = address or self.address
        return place is None or not is_here(place)

    def serving(self, service: str) -> Provider:
        """The same with its variables named by a service, as of openai-api/SERVICE/MODEL.

        >>> provider_of("openai-api/ward-7/gemma").variables
        ('WARD_7_BASE_URL',)
        """
        word = service.upper().replace("-", "_")
        variables, keys = (
            tuple(name.replace("{SERVICE}", word) for name in names)
            for names in (self.variables, self.keys)
        )
        return replace(self, variables=variables, keys=keys)

    def check(self, environment: Mapping[str, str], *, address: str | None) -> None:
        """Look for what it needs before anything is asked.

        Raises:
            UsageError: a package or a key is missing.
        """
        for package, todo in self.packages.items():
            if find_spec(package) is None:
                raise UsageError(f"{self.name}/ needs the package {package}", todo=todo)
        here = address is not None and is_here(address)
        needed = self.place == SERVICE and not here
        if needed and self.keys and not any(environment.get(name) for name in self.keys):
            raise UsageError(
                f"there is no key for {self.name}: {' or '.join(self.keys)} is not set",
                todo=f"export {self.keys[0]}=..., or name a model on this machine",
            )


@cache
def providers() -> Mapping[str, Provider]:
    """The rows of providers.yaml, by name."""
    path = Path(__file__).with_name("providers.yaml")
    rows: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["providers"]
    return {
        row["name"]: Provider(
            name=row["name"],
            place=row["place"],
            variables=tuple(row.get("variables", ())),
            address=row.get("address"),
            started=row.get("started", False),
            at_address=row.get("at_address", {}),
            hosted=tuple(row.get("hosted", ())),
            keys=tuple(row.get("keys", ())),
            packages=row.get("packages", {}),
        )
        for row in rows
    }


def provider_of(words: str) -> Provider:
    """The provider that a model's name begins with; a service where it is not in the table.

    Raises:
        UsageError: the name has no provider.

    >>> provider_of("hf/google/gemma").place, provider_of("groq/llama").place
    ('here', 'service')
    >>> provider_of("gpt")
    Traceback (most recent call last):
    ehrkg.foundation.errors.UsageError: which provider serves 'gpt'?
      do: write PROVIDER/MODEL (anthropic/…, ...), or the path of ...
    """
    name, _, model = words.partition("/")
    if not name or not model:
        raise UsageError(
            f"which provider serves {words!r}?",
            todo=f"write PROVIDER/MODEL ({', '.join(f'{one}/…' for one in providers())}), or the "
            "path of a folder of weights or of a .gguf file",
        )
    return providers().get(name, Provider(name)).serving(model.split("/")[0])


def environment() -> Mapping[str, str]:
    """The environment, as providers read it."""
    return os.environ
