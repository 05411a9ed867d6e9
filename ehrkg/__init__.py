"""Clinical decision benchmarks out of hospital tables, verified by a knowledge graph.

    import ehrkg

    kg = ehrkg.open("out/graph.lbug")
    kg.load_ehr("mimic-iv/")
    kg.map_codes()
    relations = kg.propose(ehrkg.propose.Cooccurrence())
    relations = kg.verify(relations)
    bench = kg.instantiate(tasks=["treatment"], seed=7)

Names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ehrkg import benchmark, ehr, evaluation, graph, mapping, ontology, propose, verify
    from ehrkg.benchmark import Benchmark
    from ehrkg.foundation.errors import (
        CheckError,
        EhrkgError,
        InputError,
        ServiceError,
        UsageError,
    )
    from ehrkg.pipeline import Build, build
    from ehrkg.rehydration import rehydrate
    from ehrkg.session.kg import KnowledgeGraph
    from ehrkg.session.opening import open_graph as open  # noqa: A004
    from ehrkg.session.settings import Settings

__version__ = "0.1.0"
"""The version of this program, as its manifests and exports name it."""

__all__ = [
    "Benchmark",
    "Build",
    "CheckError",
    "EhrkgError",
    "InputError",
    "KnowledgeGraph",
    "ServiceError",
    "Settings",
    "UsageError",
    "__version__",
    "benchmark",
    "build",
    "ehr",
    "evaluation",
    "graph",
    "mapping",
    "ontology",
    "open",
    "propose",
    "rehydrate",
    "verify",
]

_HOMES = {
    "Benchmark": "ehrkg.session.kg",
    "Build": "ehrkg.pipeline",
    "CheckError": "ehrkg.foundation.errors",
    "EhrkgError": "ehrkg.foundation.errors",
    "InputError": "ehrkg.foundation.errors",
    "KnowledgeGraph": "ehrkg.session.kg",
    "ServiceError": "ehrkg.foundation.errors",
    "Settings": "ehrkg.session.settings",
    "UsageError": "ehrkg.foundation.errors",
    "build": "ehrkg.pipeline",
    "open": "ehrkg.session.opening",
    "rehydrate": "ehrkg.rehydration",
}
_PACKAGES = frozenset(
    {"benchmark", "ehr", "evaluation", "graph", "mapping", "ontology", "propose", "verify"}
)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"ehrkg.{name}")
    if name in _HOMES:
        module = importlib.import_module(_HOMES[name])
        return getattr(module, "open_graph" if name == "open" else name)
    raise AttributeError(f"module 'ehrkg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
