"""What must not come out supported: contraindications, chance, swaps; and signs held out."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from figures import auroc, share, show
from world import PATHS, World, controls, judge, luck, random_prior, rows, table, without

from ehrkg.ontology.predicates import PREDICATES
from ehrkg.verify import resolve_pairs, verify

FOLDS = 5
CONTROLS = 100_000
EVERYCURE = ("infores:everycure", "infores:everycure-doubtful")
Row = tuple[str, str]


def contraindications(world: World) -> Row:
    """Each fifth of Every Cure's contraindications kept out, and asked as treatments."""
    edges = world.known.edges
    mine = pc.and_(
        pc.equal(edges["predicate"], "CONTRAINDICATED_IN"),
        pc.is_in(edges["source"], value_set=pa.array(EVERYCURE)),
    )
    ends = list(zip(edges["subject"].to_pylist(), edges["object"].to_pylist(), strict=True))
    chosen = mine.to_pylist()
    hits = total = 0
    for fold in range(FOLDS):
        out = [
            flag and int(luck("fold", "|".join(pair)) * FOLDS) == fold
            for flag, pair in zip(chosen, ends, strict=True)
        ]
        asked = {(h, "TREATS", t) for flag, (h, t) in zip(out, ends, strict=True) if flag}
        found = judge(asked, without(world.known, pa.array(out)))
        hits += sum(row["verdict"] == "supported" for row in found.values())
        total += len(asked)
    return "contraindications of Every Cure kept out, supported as treatment", share(hits, total)


def chance(world: World) -> list[Row]:
    """Drug and condition drawn with the degrees of the statements, in no source."""
    drawn = [(head, "TREATS", tail) for head, tail in controls(world.known, CONTROLS)]
    candidates, links, *_ = resolve_pairs(table(drawn), world.known)
    found = verify(candidates, links, world.known, policy=PATHS)
    good = {r["id"] for r in found.relations.to_pylist() if r["verdict"] == "supported"}
    best: dict[str, tuple[float, str]] = {}
    for row in found.evidence.select(["relation", "weight", "meta_path", "polarity"]).to_pylist():
        if row["relation"] in good and row["polarity"] == "supports":
            place = best.get(row["relation"], (0.0, ""))
            best[row["relation"]] = max(place, (row["weight"], row["meta_path"]))
    by_path = Counter(name for _, name in best.values())
    said = [("random controls supported", share(len(good), len(drawn)))]
    said += [(f"   carried by {name}", share(n, len(drawn))) for name, n in by_path.most_common()]
    prior = random_prior(world.known)
    return [*said, ("drawn pairs that some source states (the prior)", f"{prior:.3f}")]


def swaps(world: World) -> list[Row]:
    """Head and tail of each supported statement swapped; each statement denied."""
    edges = world.shipped.edges
    clinical = [name for name, row in PREDICATES.items() if row.group == "clinical"]
    some = edges.filter(pc.is_in(edges["predicate"], value_set=pa.array(clinical)))
    some = some.filter(pc.invert(some["negated"]))
    columns = (some[name].to_pylist() for name in ("subject", "predicate", "object"))
    found = judge(set(zip(*columns, strict=True)), world.shipped)
    good = [claim for claim, row in found.items() if row["verdict"] == "supported"]
    turned = [(tail, predicate, head) for head, predicate, tail in good]
    back = judge(turned, world.shipped).values()
    denied = edges.set_column(
        edges.schema.get_field_index("negated"),
        "negated",
        pc.not_equal(edges["predicate"], "SUBCLASS_OF"),
    )
    against = type(world.shipped)(
        **{name: getattr(world.shipped, name) for name in world.shipped.__dataclass_fields__}
        | {"edges": denied}
    )
    still = judge(good, against).values()
    return [
        ("statements that support their own claim", share(len(good), len(found))),
        ("ends swapped, still supported", _supported(back)),
        ("every statement denied, still supported", _supported(still)),
    ]


def symptoms(world: World) -> list[Row]:
    """Hetionet's DpS (none of which is known here) against the same, shuffled within the ends."""
    lines = (world.data / "hetionet" / "edges-5k.sif.gz").read_bytes()
    pairs = [
        line.split("\t")
        for line in gzip.decompress(lines).decode().splitlines()
        if "\tDpS\t" in line
    ]
    names = {
        row["id"]: row["name"] for row in rows(world.data / "hetionet" / "hetionet-v1.0-nodes.tsv")
    }
    real = {(p[0].removeprefix("Disease::"), names[p[2]].lower()) for p in pairs}
    known = world.concepts({end for pair in real for end in pair})
    real = {(a, b) for a, b in real if a in known and b in known}
    tails = sorted((b for _, b in real), key=lambda b: luck("shuffle", b))
    heads = sorted(real, key=lambda pair: luck("heads", "|".join(pair)))
    fake = {(a, b) for (a, _), b in zip(heads, tails, strict=True)} - real
    found = judge({(a, "HAS_PHENOTYPE", b) for a, b in real | fake}, world.named)
    told = [[found[a, "HAS_PHENOTYPE", b] for a, b in sorted(some)] for some in (real, fake)]
    scores = [[row["score"] for row in some] for some in told]
    return [
        ("Hetionet's symptoms, supported", _supported(told[0])),
        ("the same, shuffled, supported", _supported(told[1])),
        ("   AUROC of the (uncalibrated) score", f"{auroc(*scores):.3f}"),
    ]


def _supported(found: Iterable[Mapping[str, Any]]) -> str:
    verdicts = [row["verdict"] for row in found]
    return share(verdicts.count("supported"), len(verdicts))


def report(world: World) -> None:
    """Print the table."""
    said = [contraindications(world), *chance(world), *swaps(world), *symptoms(world)]
    show("What must not come out supported, and what is held out", ("", "supported"), said)
