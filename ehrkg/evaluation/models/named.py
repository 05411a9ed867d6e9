"""Whatever a caller gives as a model, as one value that can be asked."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ehrkg.evaluation.asking.likelihood import GGUF, LocalOptions
from ehrkg.evaluation.models.generation import PROMPTS_AT_ONCE, Generation
from ehrkg.evaluation.models.providers import HERE, environment, provider_of
from ehrkg.foundation.hashing import short_id
from ehrkg.propose.models.places import is_here


@dataclass(frozen=True)
class AskedModel:
    """A model that can be asked through Inspect.

    Attributes:
        name: as it stands in ``scores.model``.
        identity: tells its answers from another's: name, address, and a function's own text.
        remote: whether what it is asked leaves this machine.
        address: where it is asked; ``None`` for its own place.
        path: of weights on this machine; ``None`` for others.
        at_once: how many calls it answers at once; ``None`` leaves that to Inspect. What waits for
            its turn in the model would count as slow, and run out of time.
        own: whether it is the caller's own function, whose errors are the caller's to read.
        make: the model, as Inspect has it; called when there is something to ask.
    """

    name: str
    identity: str
    remote: bool
    address: str | None
    path: Path | None
    make: Callable[[], Any]
    own: bool = False
    at_once: int | None = None


def model_named(
    model: str | Path | Callable[[list[str]], Any],
    generation: Generation | None = None,
    *,
    base_url: str | None = None,
    name: str | None = None,
) -> AskedModel:
    """What a caller gives as a model.

    Args:
        model: PROVIDER/MODEL as Inspect names it; the path of a folder of weights or of a .gguf
            file; or a function from a list of prompts to a list of texts.
        generation: how it answers.
        base_url: where it is asked, if not at its provider's address.
        name: as it shall stand in the scores; by default its own.

    Raises:
        UsageError: it names nothing; a package or a key is missing.

    >>> model_named("mockllm/model").remote, model_named(lambda prompts: prompts, name="echo").name
    (False, 'echo')
    >>> model_named("openai/m", base_url="http://127.0.0.1:8080/v1").remote
    False
    """
    how = generation or Generation()
    if callable(model):
        return _function(model, name)
    words = str(model)
    path = Path(words).expanduser()
    if path.suffix == GGUF or isinstance(model, Path) or path.is_dir():
        return _weights(path, name)
    return _served(words, how, base_url, name)


def _function(function: Callable[[list[str]], Any], name: str | None) -> AskedModel:
    own = name or str(getattr(function, "__name__", type(function).__name__))
    try:
        text = inspect.getsource(function if inspect.isroutine(function) else type(function))
    except (OSError, TypeError):  # typed in at a prompt, or written in C
        text = ""

    def make() -> Any:
        from inspect_ai.model import get_model

        from ehrkg.evaluation.models import callable_model

        made = get_model(f"{callable_model.NAME}/{own}", memoize=False)
        assert isinstance(made.api, callable_model.CallableModel)
        made.api.function = function
        return made

    return AskedModel(
        own, f"{own} {short_id('f', text)}", False, None, None, make, True, PROMPTS_AT_ONCE
    )


def _weights(path: Path, name: str | None) -> AskedModel:
    own = name or LocalOptions(path).name

    def make() -> Any:
        from inspect_ai.model import get_model

        from ehrkg.evaluation.models import local

        return get_model(f"{local.NAME}/{own}", memoize=False, path=str(path))

    return AskedModel(own, f"{own} {path.resolve()}", False, None, path, make, at_once=1)


def _served(words: str, how: Generation, base_url: str | None, name: str | None) -> AskedModel:
    provider = provider_of(words)
    address = provider.address_for(base_url, environment())
    remote = provider.is_remote(words.partition("/")[2], address)
    provider.check(environment(), address=address)

    def make() -> Any:
        from inspect_ai.model import get_model

        given = _greedy(how) if provider.place == HERE else dict(how.model_args)
        if address is not None:
            given = {**provider.at_address, **given}
        if provider.name == "mockllm":
            from ehrkg.evaluation.models.mock import as_mocked

            given.setdefault("custom_outputs", as_mocked)
        # A server on this machine asks for no key, but its client asks for some word.
        key = "none" if address and is_here(address) and not _key(provider.keys) else None
        return get_model(words, base_url=address, api_key=key, memoize=False, **given)

    at = f" at {address}" if address else ""
    return AskedModel(name or words, f"{words}{at}", remote, address, None, make)


def _key(names: tuple[str, ...]) -> bool:
    return any(environment().get(name) for name in names)


def _greedy(how: Generation) -> dict[str, Any]:
    """Arguments of Inspect's ``hf``, which draws its words unless told, even at temperature 0."""
    return {"do_sample": bool(how.temperature), **how.model_args}
