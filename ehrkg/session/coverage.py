"""How much of what a hospital wrote reaches a concept, by which way, and whether rightly.

Reach is counted, correctness is judged by people: the two stand side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ehrkg import mapping, ontology
from ehrkg.benchmark.facts.code_classes import DISEASE, class_of
from ehrkg.ehr.schema import EVENTS, Hospital
from ehrkg.foundation.embedding import Embedder, SentenceTransformerEmbedder
from ehrkg.foundation.hashing import order_by_hash
from ehrkg.foundation.workspace import read_final, read_manifest
from ehrkg.graph import open_store, readers
from ehrkg.graph.place import place_of
from ehrkg.mapping import NEAR
from ehrkg.mapping.overrides import Overrides
from ehrkg.mapping.schema import Mapping as CodeMapping
from ehrkg.ontology.schema import Knowledge
from ehrkg.session.coverage_judged import Judged, read_judged
from ehrkg.session.mapped import stored_mapping

SAMPLE = 200
"""Rows that are drawn for a person to judge."""
SHARES = {"diagnosis": 0.5, "drug": 0.3, "procedure": 0.2}
"""How the sample is parted: drawn by frequency from all rows, most would be drugs."""
DISEASES = "diagnosis that names a condition"
"""Diagnosis rows without symptom, status, history and external-cause codes."""
OTHER_STRINGS = "nutrient, fluid, vaccine, supply"

REACH = pa.schema(
    [
        ("knowledge", pa.string()),
        ("group", pa.string()),  # diagnosis, DISEASES, procedure, drug, OTHER_STRINGS
        ("rows", pa.int64()),
        ("exact", pa.int64()),  # rows whose code is linked at level 0
        ("near", pa.int64()),  # at level 1
        ("broader", pa.int64()),  # farther up: carries no verdict
        ("unlinked", pa.int64()),
        ("codes", pa.int64()),  # distinct
        ("codes_reached", pa.int64()),  # at level 0 or 1
    ]
)
METHODS = pa.schema([("kind", pa.string()), ("method", pa.string()), ("rows", pa.int64())])
FAILING = pa.schema(
    [
        ("group", pa.string()),
        ("code", pa.string()),
        ("name", pa.string()),
        ("rows", pa.int64()),
        ("levels", pa.int32()),  # of the nearest link; null where there is none
    ]
)
EDGES_BY_SOURCE = pa.schema(
    [
        ("source", pa.string()),
        ("predicate", pa.string()),
        ("edges", pa.int64()),
        ("pairs", pa.int64()),  # distinct (subject, object)
    ]
)
DRAWN = pa.schema(
    [
        ("kind", pa.string()),
        ("code", pa.string()),
        ("name", pa.string()),
        ("concepts", pa.string()),  # names, joined by " + "
        ("concept_ids", pa.string()),
        ("levels", pa.int32()),
        ("predicate", pa.string()),
        ("method", pa.string()),
        ("confidence", pa.float64()),
        ("explanation", pa.string()),
        ("judgement", pa.string()),  # for the reader: right, broad, wrong or unsure
    ]
)


@dataclass(frozen=True)
class Coverage:
    """What ``coverage`` finds.

    Attributes:
        reach: REACH, a row a knowledge and group.
        methods: METHODS: by which method the rows that reach a concept do.
        failing: FAILING: codes that reach none, most frequent first.
        edges: EDGES_BY_SOURCE, of the build's knowledge.
        sample: DRAWN: mapped rows drawn by frequency, for a person to judge.
        judged: what a person judged, where a judged file was given.
    """

    reach: pa.Table
    methods: pa.Table
    failing: pa.Table
    edges: pa.Table
    sample: pa.Table
    judged: Judged | None


def coverage(
    out: str | Path,
    *,
    knowledge: Sequence[str | Path] = (),
    judged: str | Path | None = None,
    seed: int = 7,
) -> Coverage:
    """Measure a build's mapping: reach, methods, failures, edges, and a sample to judge.

    Args:
        out: the folder of a build.
        knowledge: further ontologies or tables; the reach with them beside what ships is added.
        judged: a sample that a person has filled in (the column ``judgement``).
        seed: names the draw of the sample.

    Returns:
        Tables. Rows count as reached at an exact or near level only: the same concept, or one
        level up; never a chapter, a block, a group of codes, or "disease".

    Raises:
        InputError: there is no finished build, or the judged file can't be used.
    """
    out = Path(out)
    events = read_final(out, "events").cast(EVENTS)
    with open_store(place_of(out, read_manifest(out)), read_only=True) as store:
        hospital = readers.read_hospital(store)
        known = readers.read_knowledge(store)
        mapped = stored_mapping(store, hospital.codes, known)
    built = mapped or mapping.map_codes(hospital.codes, known)
    weighed = Weighed.of(events, hospital.codes, built, known)
    shipped = ontology.shipped()
    reach = [weighed.reach("this build", built)]
    for label, parts in (
        ("what ships", ()),
        (_label(knowledge), tuple(ontology.load(path) for path in knowledge)),
    ):
        if label:
            trees = ontology.for_codes(hospital.codes)
            whole = ontology.merge(shipped, *parts, trees)
            again = mapping.map_codes(hospital.codes, whole, embedder=SentenceTransformerEmbedder())
            reach.append(weighed.reach(label, again))
    return Coverage(
        reach=pa.concat_tables(reach),
        methods=weighed.methods(built),
        failing=weighed.failing(built),
        edges=edges_by_source(known),
        sample=weighed.sample(built, known, seed=seed),
        judged=read_judged(Path(judged)) if judged is not None else None,
    )


def measure(
    hospital: Hospital,
    knowledge: Knowledge,
    *,
    label: str = "this knowledge",
    overrides: Overrides | None = None,
    embedder: Embedder | None = None,
    seed: int = 7,
) -> Coverage:
    """The same of tables that were read and of any knowledge, without a build.

    Args:
        hospital: what was read.
        knowledge: without the trees of the codes, which are added here.
        label: names the knowledge in the table.
        overrides: a user's own mapping.
        embedder: for the last resort, which is left out without one.
        seed: names the draw of the sample.
    """
    whole = ontology.merge(knowledge, ontology.for_codes(hospital.codes))
    mapped = mapping.map_codes(hospital.codes, whole, overrides=overrides, embedder=embedder)
    weighed = Weighed.of(hospital.events, hospital.codes, mapped, whole)
    return Coverage(
        reach=weighed.reach(label, mapped),
        methods=weighed.methods(mapped),
        failing=weighed.failing(mapped),
        edges=edges_by_source(knowledge),
        sample=weighed.sample(mapped, whole, seed=seed),
        judged=None,
    )


def _label(knowledge: Sequence[str | Path]) -> str:
    if not knowledge:
        return ""
    return "what ships and " + ", ".join(Path(path).name for path in knowledge)


@dataclass(frozen=True)
class Weighed:
    """A hospital's codes with how many rows each has.

    Attributes:
        rows: Code id -> rows.
        kinds: Code id -> kind.
        names: Code id -> the tables' own name, the code system's where they have none.
        groups: Code id -> the groups of REACH that it counts in.
    """

    rows: Mapping[str, int]
    kinds: Mapping[str, str]
    names: Mapping[str, str]
    groups: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(
        cls, events: pa.Table, codes: pa.Table, mapped: CodeMapping, known: Knowledge
    ) -> Weighed:
        """Count the rows of each code."""
        counted = events.group_by("code").aggregate([([], "count_all")])
        rows = dict(zip(counted["code"].to_pylist(), counted["count_all"].to_pylist(), strict=True))
        ids = codes["id"].to_pylist()
        kinds = dict(zip(ids, codes["kind"].to_pylist(), strict=True))
        trees = _names(known)
        names = {
            code: name or trees.get(code, "")
            for code, name in zip(ids, codes["name"].to_pylist(), strict=True)
        }
        drugs = mapped.drug_strings
        said = dict(zip(drugs["code"].to_pylist(), drugs["drug_kind"].to_pylist(), strict=True))
        return cls(
            {code: rows.get(code, 0) for code in ids},
            kinds,
            names,
            {code: _groups(code, kinds[code], said.get(code, "")) for code in ids},
        )

    def reach(self, label: str, mapped: CodeMapping) -> pa.Table:
        """REACH of one knowledge."""
        levels = lowest_levels(mapped)
        order = ("diagnosis", DISEASES, "procedure", "drug", OTHER_STRINGS)
        found = []
        for group in order:
            codes = [code for code, groups in self.groups.items() if group in groups]
            if not codes:
                continue
            count: Counter[str] = Counter()
            for code in codes:
                count[_degree(levels.get(code))] += self.rows[code]
            found.append(
                {
                    "knowledge": label,
                    "group": group,
                    "rows": sum(count.values()),
                    **{degree: count[degree] for degree in ("exact", "near", "broader")},
                    "unlinked": count["unlinked"],
                    "codes": len(codes),
                    "codes_reached": sum(levels.get(code, NEAR + 1) <= NEAR for code in codes),
                }
            )
        return pa.Table.from_pylist(found, schema=REACH)

    def methods(self, mapped: CodeMapping) -> pa.Table:
        """METHODS: each row counts once, under the surest link of its code."""
        count: Counter[tuple[str, str]] = Counter()
        for code, links in _near_links(mapped).items():
            surest = max(links, key=lambda link: (link["confidence"], str(link["method"])))
            count[self.kinds[code], str(surest["method"])] += self.rows[code]
        ordered = sorted(count.items(), key=lambda item: (item[0][0], -item[1], item[0][1]))
        return pa.Table.from_pylist(
            [{"kind": kind, "method": method, "rows": n} for (kind, method), n in ordered],
            schema=METHODS,
        )

    def failing(self, mapped: CodeMapping) -> pa.Table:
        """FAILING: what reaches nothing near; strings that are no drug aside."""
        levels = lowest_levels(mapped)
        found = [
            {
                "group": groups[-1],
                "code": code,
                "name": self.names[code],
                "rows": self.rows[code],
                "levels": levels.get(code),
            }
            for code, groups in self.groups.items()
            if levels.get(code, NEAR + 1) > NEAR and OTHER_STRINGS not in groups
        ]
        found.sort(key=lambda row: (-self.rows[str(row["code"])], str(row["code"])))
        return pa.Table.from_pylist(found, schema=FAILING)

    def sample(self, mapped: CodeMapping, known: Knowledge, *, seed: int) -> pa.Table:
        """DRAWN: rows, not codes, are drawn: a code stands as often as it was written."""
        links = _near_links(mapped)
        concepts = _names(known)
        found: list[dict[str, object]] = []
        for kind, share in SHARES.items():
            codes = [
                code
                for code in sorted(links)
                if self.kinds[code] == kind and OTHER_STRINGS not in self.groups[code]
            ]
            pool = (f"{code}\t{n}" for code in codes for n in range(self.rows[code]))
            for drawn in order_by_hash(pool, "coverage", seed)[: round(SAMPLE * share)]:
                code = drawn.rpartition("\t")[0]
                found.append(self._drawn(kind, code, links[code], concepts))
        return pa.Table.from_pylist(found, schema=DRAWN)

    def _drawn(
        self,
        kind: str,
        code: str,
        links: Sequence[Mapping[str, object]],
        concepts: Mapping[str, str],
    ) -> dict[str, object]:
        first = links[0]
        return {
            "kind": kind,
            "code": code,
            "name": self.names[code],
            "concepts": " + ".join(
                concepts.get(str(link["concept"])) or str(link["concept"]) for link in links
            ),
            "concept_ids": " + ".join(str(link["concept"]) for link in links),
            **{
                name: first[name]
                for name in ("levels", "predicate", "method", "confidence", "explanation")
            },
            "judgement": "",
        }


def _names(known: Knowledge) -> dict[str, str]:
    """The names of concepts, the codes of the trees among them."""
    ids, names = (known.concepts[column].to_pylist() for column in ("id", "name"))
    return dict(zip(ids, names, strict=True))


def _groups(code: str, kind: str, drug_kind: str) -> tuple[str, ...]:
    if kind == "drug":
        return ("drug",) if drug_kind == "drug" else (OTHER_STRINGS,)
    if kind == "diagnosis" and class_of(code) == DISEASE:
        return ("diagnosis", DISEASES)
    return (kind,)


def _degree(level: int | None) -> str:
    if level is None:
        return "unlinked"
    return "exact" if level == 0 else "near" if level <= NEAR else "broader"


def lowest_levels(mapped: CodeMapping) -> dict[str, int]:
    """For each linked code, the level of its nearest link."""
    table = mapped.links.group_by("code").aggregate([("levels", "min")])
    return dict(zip(table["code"].to_pylist(), table["levels_min"].to_pylist(), strict=True))


def _near_links(mapped: CodeMapping) -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = {}
    for link in mapped.links.to_pylist():
        if link["levels"] <= NEAR:
            found.setdefault(link["code"], []).append(link)
    return found


def edges_by_source(known: Knowledge) -> pa.Table:
    """EDGES_BY_SOURCE, most edges first; what denies is counted under its own words."""
    from ehrkg.ontology.sql import run

    return run(
        """
        SELECT source, CASE WHEN negated THEN 'NOT ' ELSE '' END || predicate AS predicate,
               count(*) AS edges, count(DISTINCT (subject, object)) AS pairs
        FROM edges GROUP BY ALL ORDER BY source, edges DESC, predicate""",
        edges=known.edges,
    ).cast(EDGES_BY_SOURCE)


def write_tables(found: Coverage, folder: Path) -> list[Path]:
    """Write the tables as TSV.

    Args:
        found: the tables.
        folder: where to; made where it is not there.

    Returns:
        The files: reach, methods, failing, edges and sample.
    """
    from ehrkg.session.tsv import write_tsv

    tables: Iterable[tuple[str, pa.Table]] = (
        ("reach", found.reach),
        ("methods", found.methods),
        ("failing", found.failing),
        ("edges", found.edges),
        ("sample", found.sample),
    )
    written = []
    for name, table in tables:
        path = folder / f"{name}.tsv"
        write_tsv(table, path)
        written.append(path)
    return written
