"""Everything that decides what a build becomes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ehrkg.benchmark import DEFAULT_FORMATS, FORMATS, STRATEGIES
from ehrkg.foundation.embedding import model_name
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.keys import SecretKey
from ehrkg.graph.neo4j_session import address_of
from ehrkg.ontology import place_of
from ehrkg.propose import Cooccurrence, Proposer, choose_tasks
from ehrkg.verify import Embedder, Policy, SentenceTransformerEmbedder

_ELSEWHERE = frozenset({"graph", "knowledge", "mapping", "policy", "proposer", "pseudonymise"})
"""Settings of which a manifest holds but a name, or that are objects of their own."""


@dataclass(frozen=True)
class Settings:
    """The settings of a build; they stand in its manifest.

    Args:
        format: the tables' format, or the path of a mapping of one's own tables (a YAML file);
            found from the tables for ``None``.
        knowledge: further ontologies or tables of knowledge, beside what ships: paths, each with
            its format before it where that can't be told ("hetionet=data/hetionet").
        mapping: a file of your own mappings from codes to concepts, which override all others
            (``ehrkg.mapping.read_overrides`` says how it is written).
        tasks: which of the tasks; all by default.
        formats: which kinds of question: ``mcq4``, ``mcq5``, ``mcq6``, ``oeq``, and where asked for
            ``yesno`` and ``multi``.
        strategies: how distractors are chosen.
        history: how many earlier admissions a stem tells of.
        proposer: who proposes relations; co-occurrence needs nothing and sends nothing.
        policy: the rule that turns evidence into a verdict; strict by default.
        model: the sentence-transformers model for definitions; the packaged MiniLM for ``None``.
        seed: names the draw; another one gives another benchmark of the same kind.
        graph: the address of a server for the graph, without a password ("neo4j://host:7687", or
            with "#BUILD" to name the build); ``graph.lbug`` in the output folder for ``None``.
        beside_foreign: write into a database that holds somebody else's nodes of the same labels.
        pseudonymise: a secret key: patients and visits go under names made with it, from reading
            on. Of the key only the fingerprint stands in the manifest.

    Raises:
        UsageError: a task, format or strategy is unknown, or the address holds a password.

    >>> Settings(seed=3).as_json()["seed"]
    3
    """

    format: str | None = None
    knowledge: tuple[str, ...] = ()
    mapping: str | None = None
    tasks: tuple[str, ...] | None = None
    formats: tuple[str, ...] = DEFAULT_FORMATS
    strategies: tuple[str, ...] = ("frequency",)
    history: int = 0
    proposer: Proposer = field(default_factory=Cooccurrence)
    policy: Policy = field(default_factory=Policy)
    model: str | None = None
    seed: int = 7
    graph: str | None = None
    beside_foreign: bool = False
    pseudonymise: SecretKey | None = None

    def __post_init__(self) -> None:
        choose_tasks(self.tasks)
        for kind, given, known in (
            ("format", self.formats, FORMATS),
            ("strategy", self.strategies, STRATEGIES),
        ):
            unknown = sorted(set(given) - set(known))
            if unknown:
                raise UsageError(
                    f"no such {kind}: {', '.join(unknown)}", todo=f"use {', '.join(known)}"
                )
        if self.graph is not None:
            address_of(self.graph.partition("#")[0])

    def as_json(self) -> dict[str, Any]:
        """The settings as plain values, the same for the same build on every machine."""
        return {
            "format": Path(self.format).name if self.format else None,
            "knowledge": [place_of(text).label for text in self.knowledge],
            "mapping": Path(self.mapping).name if self.mapping is not None else None,
            "tasks": list(self.tasks) if self.tasks is not None else None,
            "formats": list(self.formats),
            "strategies": list(self.strategies),
            "history": self.history,
            "proposer": self.proposer.settings(),
            "policy": asdict(self.policy),
            "model": model_name(self.model),
            "seed": self.seed,
            "graph": self.graph,
            "pseudonymise": self.pseudonymise.fingerprint if self.pseudonymise else None,
        }

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Settings:
        """Settings out of what ``as_json`` gave.

        Raises:
            UsageError: they name what only their owner has (a model, files, a key), or were
                written by a version that knew others.

        >>> Settings.of(Settings(seed=3).as_json()).seed
        3
        """
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in said.items()
            if name not in _ELSEWHERE and value is not None
        }
        if fields.get("model") == model_name(None):
            del fields["model"]
        way, policy = said.get("proposer", {}), dict(said.get("policy", {}))
        policy.pop("meta_paths", None)
        try:
            made = cls(
                **fields,
                proposer=Cooccurrence(
                    **{name: way.get(name, value) for name, value in asdict(Cooccurrence()).items()}
                ),
                policy=Policy(**policy),
            )
        except TypeError as error:
            raise UsageError(
                f"these settings are of another version of ehrkg: {error}",
                todo="use the version that wrote them",
            ) from error
        theirs, mine = (json.loads(json.dumps(one)) for one in (said, made.as_json()))
        other = sorted(name for name in theirs if theirs[name] != mine.get(name))
        if other:
            raise UsageError(
                f"these settings can't be made from what is written down: {', '.join(other)}",
                todo="give them yourself: settings=ehrkg.Settings(...) with what they name",
            )
        return made

    def embedder(self) -> Embedder:
        """The embedding model, loaded when first used."""
        return _embedder(self.model)


@cache
def _embedder(model: str | None) -> Embedder:
    return SentenceTransformerEmbedder(model)
