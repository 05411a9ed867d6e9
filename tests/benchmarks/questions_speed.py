"""How long making, checking and cutting a benchmark of a million questions takes, and its memory.

    python tests/benchmarks/questions_speed.py make --templates 250000 --out DIR
    python tests/benchmarks/questions_speed.py check --out DIR
    python tests/benchmarks/questions_speed.py subset --out DIR

The hospital and its templates are made up, at any size: causes with their effects, drugs with what
they treat, and bystanders. Each command is a process of its own: its time is the whole process,
its memory the greatest that the process held.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark import (
    TEMPLATES,
    Benchmark,
    Cohort,
    Facts,
    check,
    hidden_edges,
    write_questions,
)
from ehrkg.ehr.schema import CODES, EVENTS, PATIENTS, VISIT_CODES, VISITS, Hospital
from ehrkg.foundation.hashing import mix, short_id
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import read_parquet, write_parquet
from ehrkg.mapping.schema import DRUG_STRINGS, LINKS
from ehrkg.mapping.schema import Mapping as CodeMapping
from ehrkg.ontology.schema import (
    CODE_ATTRIBUTES,
    CONCEPTS,
    EDGES,
    MAPPINGS,
    SYNONYMS,
    Knowledge,
)
from ehrkg.verify.schema import EVIDENCE, RELATIONS, Verified

STARTED = time.perf_counter()
CAUSES, EFFECTS, DRUGS, BYSTANDERS = 300, 700, 300, 200
LETTERS = "ABCDEGHIJKLMN"
KINDS_OF_RELATION = 6
"""Effects (or drugs) a cause has."""


def code(at: int) -> str:
    """An ICD-10 code of a disease, by number."""
    return f"ICD10CM:{LETTERS[at % len(LETTERS)]}{at // len(LETTERS):02d}.{at % 9}"


def filled(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows as a table; text, numbers, lists that a row leaves out are empty."""
    table = pa.Table.from_pylist(rows, schema)
    for at, field in enumerate(schema):
        if pa.types.is_string(field.type):
            table = table.set_column(at, field, pc.fill_null(table[field.name], ""))
        elif pa.types.is_list(field.type):
            none = pa.array([[]] * table.num_rows, field.type)
            table = table.set_column(
                at, field, pc.if_else(pc.is_null(table[field.name]), none, table[field.name])
            )
        elif pa.types.is_floating(field.type) or pa.types.is_integer(field.type):
            table = table.set_column(at, field, pc.fill_null(table[field.name], 0))
    return table


def known() -> tuple[list[str], list[str], Knowledge, CodeMapping, Verified, pa.Table]:
    """Codes of diseases and drugs, what is known of them, and the relations."""
    diseases = [code(at) for at in range(CAUSES + EFFECTS + BYSTANDERS)]
    drugs = [f"DRUGNAME:drug{at:03d}ol" for at in range(DRUGS)]
    concepts = [
        {"id": f"MONDO:{at}", "name": f"Disease {at:04d}", "kind": "disease"}
        for at in range(len(diseases))
    ]
    concepts += [
        {"id": f"DRUGBANK:{at}", "name": name[9:], "kind": "drug"} for at, name in enumerate(drugs)
    ]
    classes = [f"ATC:{LETTERS[at % 13]}{at // 13:02d}AA" for at in range(DRUGS)]
    concepts += [{"id": name, "name": name, "kind": "drug_class"} for name in sorted(set(classes))]
    edges, relations = [], []

    def edge(subject: str, predicate: str, target: str) -> None:
        edges.append(
            {
                "id": short_id("e", subject, predicate, target),
                "subject": subject,
                "predicate": predicate,
                "object": target,
                "negated": False,
                "source": "made",
                "origin": "made",
            }
        )

    def relation(head: str, predicate: str, tail: str, ends: tuple[str, str], route: str) -> None:
        relations.append(
            {
                "id": short_id("r", head, route, predicate, tail),
                "head": head,
                "route": route,
                "predicate": predicate,
                "tail": tail,
                "head_concept": ends[0],
                "tail_concept": ends[1],
                "verdict": "supported",
                "score": 0.9,
                "n_path": 1,
                "lift": 3.0,
            }
        )

    for at, group in enumerate(classes):
        edge(f"DRUGBANK:{at}", "SUBCLASS_OF", group)
    for cause in range(CAUSES):
        for turn in range(KINDS_OF_RELATION):
            effect = CAUSES + (cause * 7 + turn * 101 + turn * turn) % EFFECTS
            edge(f"MONDO:{cause}", "CAUSES", f"MONDO:{effect}")
            ends = (f"MONDO:{cause}", f"MONDO:{effect}")
            relation(diseases[cause], "CAUSES", diseases[effect], ends, "")
            drug = (cause * 11 + turn * 37 + turn * turn) % DRUGS
            edge(f"DRUGBANK:{drug}", "TREATS", f"MONDO:{cause}")
            ends = (f"DRUGBANK:{drug}", f"MONDO:{cause}")
            relation(drugs[drug], "TREATS", diseases[cause], ends, "oral")
    links = [
        {
            "code": name,
            "concept": f"{prefix}:{at}",
            "predicate": "skos:exactMatch",
            "method": "xref",
            "levels": 0,
            "confidence": 1.0,
        }
        for prefix, names in (("MONDO", diseases), ("DRUGBANK", drugs))
        for at, name in enumerate(names)
    ]
    attributes = [
        {
            "code": name,
            "name": f"Disease {at:04d}",
            "category": name.split(".")[0],
            "ccsr": [f"S{at}"],
        }
        for at, name in enumerate(diseases)
    ]
    strings = [{"code": name, "drug_kind": "drug", "ingredients": [name[9:]]} for name in drugs]
    knowledge = Knowledge(
        concepts=filled(concepts, CONCEPTS).sort_by("id"),
        synonyms=SYNONYMS.empty_table(),
        edges=filled(edges, EDGES).sort_by("id"),
        mappings=MAPPINGS.empty_table(),
        attributes=filled(attributes, CODE_ATTRIBUTES).sort_by("code"),
    )
    mapping = CodeMapping(
        links=filled(links, LINKS).sort_by("code"),
        drug_strings=filled(strings, DRUG_STRINGS).sort_by("code"),
    )
    table = filled(relations, RELATIONS).sort_by("id")
    codes = [
        {
            "id": name,
            "system": name.split(":")[0],
            "code": name.split(":")[1],
            "kind": kind,
            "name": shown,
        }
        for kind, names in (("diagnosis", diseases), ("drug", drugs))
        for name, shown in (
            (name, f"Disease {at:04d}" if kind == "diagnosis" else name[9:])
            for at, name in enumerate(names)
        )
    ]
    return (
        diseases,
        drugs,
        knowledge,
        mapping,
        Verified(table, EVIDENCE.empty_table()),
        filled(codes, CODES).sort_by("id"),
    )


def world(n: int) -> tuple[pa.Table, Hospital, Knowledge, CodeMapping, Verified]:
    """Templates, as many as asked for, each of a patient with one visit; and what they stand in."""
    diseases, _, knowledge, mapping, verified, codes = known()
    at = np.arange(n)
    relations = verified.relations
    # Some relations are commoner than others, as a square root is.
    pick = (np.sqrt(mix(1, at) % np.uint64(1 << 40)) / 2**20 * relations.num_rows).astype(np.int64)
    chosen = relations.take(pa.array(np.minimum(pick, relations.num_rows - 1)))
    treat = np.asarray(pc.equal(chosen["predicate"], "TREATS"))
    head, tail = chosen["head"].to_numpy(), chosen["tail"].to_numpy()
    anchor, answer = np.where(treat, tail, head), np.where(treat, head, tail)
    names = np.array(diseases, dtype=object)[CAUSES + EFFECTS :]
    beside = [
        names[(mix(2 + turn, at) % np.uint64(40)).astype(np.int64) + 50 * turn] for turn in range(3)
    ]
    patient = np.array([f"p{one:08d}" for one in range(n)], dtype=object)
    visit = np.array([f"v{one:08d}" for one in range(n)], dtype=object)
    age = (40 + mix(9, at) % np.uint64(40)).astype(np.int32)
    sex = np.where(mix(8, at) % np.uint64(2), "F", "M")
    start = datetime(2150, 1, 1)

    def table(schema: pa.Schema, rows: int, **columns: Any) -> pa.Table:
        empty: dict[str, Any] = {}
        for field in schema:
            if field.name in columns:
                held = columns[field.name]
                empty[field.name] = (
                    held if isinstance(held, pa.Array) else pa.array(held, field.type)
                )
            elif pa.types.is_string(field.type):
                empty[field.name] = pa.repeat(pa.scalar(""), rows)
            elif pa.types.is_list(field.type):
                empty[field.name] = pa.ListArray.from_arrays(
                    pa.array(np.zeros(rows + 1, np.int32)), pa.array([], pa.string())
                )
            else:
                empty[field.name] = pa.nulls(rows, field.type)
        return pa.table(empty).cast(schema)

    held = np.concatenate([anchor, answer, *beside])
    of_visit, of_patient = np.tile(visit, 5), np.tile(patient, 5)
    is_drug = np.concatenate([np.zeros(n, bool), treat, np.zeros(3 * n, bool)])
    events = {
        "patient": of_patient,
        "visit": of_visit,
        "code": held,
        "kind": np.where(is_drug, "drug", "diagnosis"),
        "route": np.where(is_drug, "oral", ""),
        "drug_type": np.where(is_drug, "MAIN", ""),
        "start": pa.repeat(pa.scalar(start + timedelta(hours=2), pa.timestamp("s")), 5 * n).cast(
            EVENTS.field("start").type
        ),
    }
    used = {name: column for name, column in events.items() if name in EVENTS.names}
    hospital = Hospital(
        format="made",
        patients=table(PATIENTS, n, id=patient, sex=sex, split=np.full(n, "train")),
        visits=table(
            VISITS,
            n,
            id=visit,
            patient=patient,
            ordinal=np.ones(n, np.int32),
            kind=np.full(n, "URGENT"),
            age=age,
            died=np.zeros(n, bool),
        ),
        events=table(EVENTS, 5 * n, **used),
        codes=codes,
        visit_codes=table(
            VISIT_CODES,
            5 * n,
            **{name: column for name, column in events.items() if name in VISIT_CODES.names},
        ),
    )
    size = (2 + mix(5, at) % np.uint64(3)).astype(np.int64)
    context = [
        [a, *(b[k] for b in beside[: s - 1])]
        for k, (a, s) in enumerate(zip(anchor, size, strict=True))
    ]
    templates = table(
        TEMPLATES,
        n,
        id=[short_id("t", one) for one in range(n)],
        task=np.where(treat, "treatment", "diagnosis"),
        patient=patient,
        visit=visit,
        target_visit=visit,
        context=pa.array(context, pa.list_(pa.string())),
        context_routes=pa.array([[""] * len(one) for one in context], pa.list_(pa.string())),
        anchor_position=np.zeros(n, np.int32),
        answer=pa.array([[one] for one in answer], pa.list_(pa.string())),
        answer_route=np.where(treat, "oral", ""),
        relation=chosen["id"].combine_chunks(),
        predicate=chosen["predicate"].combine_chunks(),
        cluster=patient,
        split=np.full(n, "train"),
        age=age,
        age_band=np.full(n, "40-64"),
        sex=sex,
        visit_kind=np.full(n, "URGENT"),
        icd_version=np.full(n, "10"),
        timing=np.full(n, "discharge_coded"),
        n_context=size.astype(np.int32),
        n_related=np.ones(n, np.int32),
        score=np.full(n, 0.9),
        sole_indication=treat,
    ).sort_by("id")
    return templates, hospital, knowledge, mapping, verified


def make(out: Path) -> None:
    """Make the questions of the world that is there, and write them."""
    templates, *parts = pickle.loads((out / "world.pickle").read_bytes())
    ledger = Ledger()
    pool = write_questions(out / "items.parquet", templates, *parts, ledger=ledger)
    for name, table in (
        ("pool", pool),
        ("templates", templates),
        ("relations", parts[3].relations),
        ("events", parts[0].events),
    ):
        write_parquet(table, out / f"{name}.parquet")
    for entry in ledger:
        print(entry)


def measured(command: str, out: Path) -> None:
    """Say how long the process took and what it held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    worker = resource.getrusage(resource.RUSAGE_CHILDREN)
    rows = read_parquet(out / "items.parquet").num_rows if (out / "items.parquet").exists() else 0
    clock, cpu = time.perf_counter() - STARTED, time.process_time()
    beside = worker.ru_utime + worker.ru_stime
    print(
        f"{command}: {rows:,} questions, {clock:.1f} s, {cpu:.1f} s CPU and {beside:.1f} s of its "
        f"workers, {peak:.2f} GB, its greatest worker {worker.ru_maxrss / 2**20:.2f} GB"
    )


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["world", "make", "check", "subset"])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--templates", type=int, default=250_000)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.command == "world":
        (given.out / "world.pickle").write_bytes(pickle.dumps(world(given.templates)))
    elif given.command == "make":
        make(given.out)
    elif given.command == "subset":
        bench = Benchmark.open(given.out)
        ids = read_parquet(given.out / "templates.parquet")["id"].to_pylist()[::7]
        print(f"{len(bench.subset(ids)):,} questions of {len(ids):,} templates")
    elif given.command == "check":
        templates, *parts = pickle.loads((given.out / "world.pickle").read_bytes())
        bench = Benchmark.open(given.out)
        cohort = Cohort(*parts[:3])
        shares = hidden_edges(templates, *parts, cohort=cohort)
        facts = Facts(cohort, parts[1], parts[3])
        report = check(bench, facts=facts, true_distractors=shares)
        print(report.as_text())
    measured(given.command, given.out)


if __name__ == "__main__":
    main()
