"""The tables of verified relations and their evidence, and the words in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.hashing import short_id
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.verify.arrays import NONE, Floats, KnowledgeArrays
from ehrkg.verify.backing import CONTRADICTS, SUPPORTS, Backing
from ehrkg.verify.coding_rules import Instructions, sentence
from ehrkg.verify.policy import Policy
from ehrkg.verify.schema import EVIDENCE

LEAST_P = 1e-6
"""The least p that the tables tell from 0."""

POLARITY_WORDS = ("supports", "contradicts", "neutral")


@dataclass
class EvidenceRows:
    """Evidence being gathered, column by column."""

    columns: dict[str, list[object]] = field(
        default_factory=lambda: {name: [] for name in EVIDENCE.names}
    )

    def add(
        self,
        relation: str,
        kind: str,
        polarity: str,
        text: str,
        *,
        source: str = "",
        origin: str = "",
        weight: float = 0.0,
        meta_path: str = "",
        edges: Sequence[str] = (),
        concepts: Sequence[str] = (),
        key: Sequence[str] = (),
        passage: str = "",
        judged: str = "",
    ) -> None:
        """One piece of evidence; ``key`` tells it from others of its kind on the relation."""
        row = (
            short_id("v", relation, kind, meta_path, *edges, *key),
            relation,
            kind,
            polarity,
            text,
            source,
            origin,
            weight,
            meta_path,
            list(edges),
            list(concepts),
            passage,
            judged,
        )
        for name, value in zip(EVIDENCE.names, row, strict=True):
            self.columns[name].append(value)

    def table(self) -> pa.Table:
        """The rows under EVIDENCE's schema, in its order."""
        table = pa.table(self.columns, schema=EVIDENCE)
        return table.sort_by(
            [("relation", "ascending"), ("kind", "ascending"), ("id", "ascending")]
        )


class Words:
    """Sentences for paths, each rendered once.

    Args:
        arrays: for the names of concepts.
        policy: for the meta-paths' sentences.
    """

    def __init__(self, arrays: KnowledgeArrays, policy: Policy) -> None:
        self._arrays, self._policy = arrays, policy
        self._said: dict[tuple[int, tuple[int, ...]], str] = {}

    def path(self, backing: Backing, row: int) -> str:
        """A path as one sentence."""
        meta = int(backing.meta[row])
        path = self._policy.meta_paths[meta]
        nodes = tuple(backing.witnesses.nodes[row, : len(path.nodes)].tolist())
        if (meta, nodes) not in self._said:
            words = {
                node.name: self._arrays.name(concept)
                for node, concept in zip(path.nodes, nodes, strict=True)
            }
            words["words"] = PREDICATES[path.predicate].words
            self._said[meta, nodes] = path.says.format(**words)
        return self._said[meta, nodes]


def add_paths(
    rows: EvidenceRows,
    ids: Sequence[str],
    backing: Backing,
    arrays: KnowledgeArrays,
    policy: Policy,
) -> list[str]:
    """Add one row a path; returns their sentences, by row of the backing."""
    words = Words(arrays, policy)
    texts = [words.path(backing, row) for row in range(len(backing))]
    edges, concepts = backing.witnesses.edges.tolist(), backing.witnesses.concepts.tolist()
    for row, text in enumerate(texts):
        rows.add(
            ids[backing.claim[row]],
            "path",
            POLARITY_WORDS[backing.polarity[row]],
            text,
            source=backing.source[row],
            origin=backing.origin[row],
            weight=float(backing.weight[row]),
            meta_path=policy.meta_paths[backing.meta[row]].name,
            edges=[arrays.edge_ids[edge] for edge in edges[row] if edge != NONE],
            concepts=[arrays.concepts[concept] for concept in concepts[row] if concept != NONE],
        )
    return texts


def add_instructions(
    rows: EvidenceRows,
    ids: Sequence[str],
    found: Instructions,
    weight: Floats,
    arrays: KnowledgeArrays,
) -> None:
    """Add one row a coding instruction."""
    for row, claim in enumerate(found.claim.tolist()):
        edge = int(found.edge[row])
        rows.add(
            ids[claim],
            "coding_rule",
            found.polarity[row],
            sentence(arrays, edge),
            source=arrays.source[edge],
            origin=arrays.origin[edge],
            weight=float(weight[row]),
            edges=[arrays.edge_ids[edge]],
            concepts=[
                arrays.concepts[int(end)] for end in (arrays.subject[edge], arrays.object[edge])
            ],
        )


def add_statistics(
    rows: EvidenceRows, candidates: pa.Table, wanted: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Add what the hospital's counts say, neutral; returns which claims got a row.

    Only claims about which something else was found are ``wanted``: for the many about which
    nothing was, the same counts stand in the relation's own columns.
    """
    together = pc.greater(pc.max_element_wise(candidates["n_within"], candidates["n_across"]), 0)
    counted_at = pc.fill_null(together, False).to_numpy(zero_copy_only=False)
    has = np.asarray(wanted & counted_at, dtype=bool)
    names = ("id", "n_within", "n_across", "n_head", "n_tail", "n_patients", "lift", "p_value")
    counted = candidates.select(names).filter(pa.array(has))
    for relation, within, across, head, tail, patients, lift, p_value in zip(
        *(column.to_pylist() for column in counted.columns), strict=True
    ):
        seen = []
        if within:
            seen.append(f"together in {within} {_plural('visit', within)}")
        if across:
            seen.append(f"one after the other in {across} {_plural('pair', across)} of visits")
        text = f"seen {' and '.join(seen)} of {patients or 0} {_plural('patient', patients or 0)}"
        text += f" (the first in {head or 0}, the second in {tail or 0} visits"
        if lift is not None:
            text += f"; lift {lift:.2f}"
        if p_value is not None:
            text += f"; one-sided p {_probability(p_value)}"
        rows.add(relation, "statistic", "neutral", text + ")", source="the hospital's tables")
    return has


def _probability(p_value: float) -> str:
    """A p in words; it is kept to six digits, so what is less reads 0 there and is no 0.

    >>> _probability(0.0), _probability(0.0432)
    ('below 1e-06', '0.043')
    """
    return f"{p_value:.2g}" if p_value >= LEAST_P else f"below {LEAST_P:.0e}"


def counts(backing: Backing, size: int) -> tuple[np.ndarray, np.ndarray]:
    """By claim: how many paths support, how many contradict."""
    return tuple(  # type: ignore[return-value]
        np.bincount(backing.claim[backing.polarity == polarity], minlength=size)
        for polarity in (SUPPORTS, CONTRADICTS)
    )


def _plural(word: str, number: int) -> str:
    return word if number == 1 else f"{word}s"
