"""What a finished benchmark was made from, read back out of its graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ehrkg.benchmark.checking.again import Facts
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.opened.benchmark import Benchmark
from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.errors import UsageError
from ehrkg.graph import readers
from ehrkg.mapping import map_codes
from ehrkg.mapping.schema import Mapping
from ehrkg.mapping.stored import stored_mapping
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.schema import Verified


@dataclass(frozen=True)
class MadeFrom:
    """The tables that a benchmark was made from.

    Attributes:
        hospital: its patients, visits, events and codes.
        knowledge: what the ontologies said.
        mapping: links of codes.
        verified: relations and evidence.
    """

    hospital: Hospital
    knowledge: Knowledge
    mapping: Mapping
    verified: Verified

    @cached_property
    def facts(self) -> Facts:
        """What the rules on questions look at."""
        cohort = Cohort(self.hospital, self.knowledge, self.mapping)
        return Facts(cohort, self.knowledge, self.verified)


def made_from(benchmark: Benchmark, *, store: Any = None) -> MadeFrom:
    """Read back what a benchmark was made from.

    Args:
        benchmark: with its relations, evidence and events beside it.
        store: its graph; by default the benchmark's own, or the one in its folder.

    Raises:
        UsageError: there is no graph, or the benchmark was opened without its relations.
        InputError: the graph is damaged.
        ServiceError: another process holds it.
    """
    relations, evidence = benchmark.beside("relations"), benchmark.beside("evidence")
    events = benchmark.beside("events")
    with benchmark.asking(store) as graph:
        if graph is None or relations is None or evidence is None:
            raise UsageError(
                "what this benchmark was made from is not here",
                todo="open the folder of a build (Benchmark.open(DIR)), or take kg.instantiate's",
            )
        hospital, knowledge = readers.read_hospital(graph), readers.read_knowledge(graph)
        mapped = stored_mapping(graph, hospital.codes, knowledge)
    if events is not None:
        hospital = replace(hospital, events=events)
    mapping = mapped or map_codes(hospital.codes, knowledge)
    return MadeFrom(hospital, knowledge, mapping, Verified(relations, evidence))
