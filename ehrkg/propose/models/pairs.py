"""Questions about pairs of codes: one for each distinct pair, whatever the number of visits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from ehrkg.foundation.hashing import order_by_hash
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.propose.models.answers import pair_schema
from ehrkg.propose.models.asking import Question, Statement
from ehrkg.propose.models.prompts import Prompt

FOILS = 8
"""Other heads, and other tails, that a model which weighs sentences compares with at least; they
are the same for all statements of a predicate, so that their sentences are weighed once."""


@dataclass(frozen=True)
class Names:
    """What codes are called in a prompt: the code system's own name, and a drug's route."""

    by_code: Mapping[str, str]

    @classmethod
    def of(cls, codes: pa.Table) -> Names:
        """The names of a hospital's codes; a code without one is called by its code.

        >>> codes = pa.table({"id": ["DRUGNAME:Heparin"], "code": ["Heparin"], "name": [""]})
        >>> Names.of(codes).name("DRUGNAME:Heparin", "subcutaneous")
        'Heparin (subcutaneous)'
        """
        rows = zip(*(codes[name].to_pylist() for name in ("id", "code", "name")), strict=True)
        return cls({code_id: name or code for code_id, code, name in rows})

    def name(self, code: str, route: str = "") -> str:
        """What a code is called."""
        name = self.by_code.get(code) or code.partition(":")[2] or code
        return f"{name} ({route})" if route and route != "unknown" else name


def pair_questions(seen: pa.Table, names: Names, prompt: Prompt) -> Iterator[Question]:
    """One question a pair, those of many patients first; of as many by the pair's ids.

    Args:
        seen: CANDIDATES: what stands together anywhere, each predicate a row.
        names: what codes are called.
        prompt: the ``pair`` prompt.
    """
    groups: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
    patients: dict[tuple[str, str, str], int] = {}
    heads: dict[str, set[str]] = defaultdict(set)
    tails: dict[str, set[str]] = defaultdict(set)
    columns = seen.select(["id", "head", "route", "predicate", "tail", "n_patients"])
    for row in columns.to_pylist():
        first, second = sorted((row["head"], row["tail"]))
        pair = (first, second, row["route"])
        groups[pair].append(row)
        patients[pair] = max(patients.get(pair, 0), row["n_patients"])
        heads[row["predicate"]].add(names.name(row["head"], row["route"]))
        tails[row["predicate"]].add(names.name(row["tail"]))
    # One more than are needed: a statement's own name is none of its foils.
    others = {
        predicate: tuple(
            tuple(order_by_hash(found[predicate], "foils")[: FOILS + 1]) for found in (heads, tails)
        )
        for predicate in heads
    }
    for pair in sorted(groups, key=lambda one: (-patients[one], one)):
        rows = sorted(groups[pair], key=lambda row: (row["predicate"], row["head"]))
        statements = tuple(_statement(row, names, others[row["predicate"]]) for row in rows)
        yield Question(
            scope="pair",
            prompt=prompt.label,
            system=prompt.system,
            text=prompt.fill(statements=[one.text for one in statements]),
            schema=pair_schema(len(statements)),
            statements=statements,
        )


def _statement(
    row: Mapping[str, str], names: Names, others: Sequence[tuple[str, ...]]
) -> Statement:
    head, tail = names.name(row["head"], row["route"]), names.name(row["tail"])
    return Statement(row["id"], head, PREDICATES[row["predicate"]].words, tail, *others)
