"""Worlds large enough to make questions of, and one small enough to plant a single fault in."""

from __future__ import annotations

from functools import cache

from ehrkg.benchmark import Benchmark, make_questions, make_templates
from ehrkg.foundation.hashing import hash64
from tests.benchmark.builders import World

ANCHOR, ANSWER, CANDIDATE = "ICD10CM:A00.1", "ICD10CM:B00.1", "ICD10CM:B01.1"
BYSTANDER, OTHER = "ICD10CM:H00.1", "ICD10CM:A01.1"


def pair_world() -> World:
    """One patient with an anchor that causes the answer, another with the candidate's own cause."""
    world = World()
    world.diagnosis(ANCHOR, "Alpha disease", concept="MONDO:a", ccsr=["A0"])
    world.diagnosis(ANSWER, "Beta disease", concept="MONDO:b", ccsr=["B0"])
    world.diagnosis(OTHER, "Chi disease", concept="MONDO:x", ccsr=["A1"])
    world.diagnosis(CANDIDATE, "Delta disease", concept="MONDO:d", ccsr=["B1"])
    world.diagnosis(BYSTANDER, "Eta disease", concept="MONDO:e", ccsr=["H0"])
    world.edge("MONDO:a", "CAUSES", "MONDO:b")
    world.edge("MONDO:x", "CAUSES", "MONDO:d")
    world.relation(ANCHOR, "CAUSES", ANSWER)
    world.relation(OTHER, "CAUSES", CANDIDATE)
    world.patient("p1", sex="M").visit([ANCHOR, ANSWER, BYSTANDER])
    world.patient("p2", sex="F").visit([OTHER, CANDIDATE, "ICD10CM:H09.1"])
    world.diagnosis("ICD10CM:H09.1", "Omega disease", concept="MONDO:o", ccsr=["H9"])
    return world


def drug_world() -> World:
    """One patient with a disease and its drug, another with another disease and another drug."""
    world = World()
    world.diagnosis(ANCHOR, "Alpha disease", concept="MONDO:a", ccsr=["A0"])
    world.diagnosis(OTHER, "Chi disease", concept="MONDO:x", ccsr=["A1"])
    world.diagnosis(BYSTANDER, "Eta disease", concept="MONDO:e", ccsr=["H0"])
    world.drug("rightol", concept="DRUGBANK:R", atc="ATC:A01AA")
    world.drug("wrongol", concept="DRUGBANK:W", atc="ATC:B01AA")
    world.treats("DRUGBANK:R", "MONDO:a")
    world.treats("DRUGBANK:W", "MONDO:x")
    world.relation("DRUGNAME:rightol", "TREATS", ANCHOR, route="oral")
    world.relation("DRUGNAME:wrongol", "TREATS", OTHER, route="oral")
    for n in range(4):
        world.patient(f"p{n}").visit([ANCHOR, BYSTANDER], [("rightol", "oral")])
        world.patient(f"q{n}").visit([OTHER, BYSTANDER], [("wrongol", "oral")])
    for n in range(20):
        world.patient(f"r{n}").visit([BYSTANDER, "ICD10CM:H09.1"])
    return world


def many_pairs(n_pairs: int = 14, n_patients: int = 90) -> World:
    """Many causes with an effect each; a patient has one such pair and some bystanders."""
    world = World()
    for at in range(n_pairs):
        cause, effect, word = f"ICD10CM:A{at:02d}.1", f"ICD10CM:B{at:02d}.1", chr(97 + at)
        world.diagnosis(cause, f"Causing {word * 4}", concept=f"MONDO:c{at}", ccsr=[f"C{at}"])
        world.diagnosis(effect, f"Resulting {word}xyz", concept=f"MONDO:e{at}", ccsr=[f"E{at}"])
        world.edge(f"MONDO:c{at}", "CAUSES", f"MONDO:e{at}")
        world.relation(cause, "CAUSES", effect)
    for at in range(8):
        word = chr(110 + at) * 4
        world.diagnosis(
            f"ICD10CM:H{at:02d}.1", f"Bystanding {word}", concept=f"MONDO:b{at}", ccsr=[f"B{at}"]
        )
    for at in range(n_patients):
        pair = hash64("pair", at) % n_pairs
        beside = {f"ICD10CM:H{hash64('beside', at, turn) % 8:02d}.1" for turn in range(2)}
        world.patient(f"p{at:03d}", sex="FM"[at % 2]).visit(
            [f"ICD10CM:A{pair:02d}.1", f"ICD10CM:B{pair:02d}.1", *sorted(beside)], age=50 + at % 20
        )
    return world


@cache
def sound() -> Benchmark:
    """A sound benchmark of ``many_pairs`` with everything beside it."""
    world = many_pairs()
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    templates = make_templates(*parts)
    made = make_questions(templates, *parts)
    return Benchmark.from_tables(
        templates=templates,
        items=made.items,
        relations=world.verified.relations,
        events=world.hospital.events,
        pool=made.pool,
    )


def many_sets(n_causes: int = 16, n_patients: int = 220) -> World:
    """Causes with three effects each, most of which a patient has; some are better known."""
    world = World()
    for at in range(n_causes):
        cause, word = f"ICD10CM:A{at:02d}.1", chr(97 + at)
        world.diagnosis(cause, f"Causing {word * 4}", concept=f"MONDO:c{at}", ccsr=[f"C{at}"])
        for turn, kind in enumerate(("Early", "Later", "Final")):
            effect, concept = f"ICD10CM:{'BDE'[turn]}{at:02d}.1", f"MONDO:e{turn}{at}"
            name = f"{kind} {word}{kind[:2].lower()}yz"
            world.diagnosis(effect, name, concept=concept, ccsr=[f"E{turn}{at}"])
            world.relation(cause, "CAUSES", effect)
            world.edge(f"MONDO:c{at}", "CAUSES", concept)
            for more in range(hash64("degree", turn, at) % 6):
                world.edge(f"MONDO:m{more}", "CAUSES", concept)
    for at in range(8):
        name = f"Bystanding {chr(110 + at) * 4}"
        world.diagnosis(f"ICD10CM:H{at:02d}.1", name, concept=f"MONDO:b{at}", ccsr=[f"B{at}"])
    for at in range(n_patients):
        cause = hash64("cause", at) % n_causes
        beside = {f"ICD10CM:H{hash64('beside', at, turn) % 8:02d}.1" for turn in range(2)}
        missing = {kind for kind in "BDE" if hash64("missing", kind, at) % 100 < ord(kind) - 50}
        codes = [f"ICD10CM:{kind}{cause:02d}.1" for kind in "ABDE" if kind not in missing]
        world.patient(f"p{at:03d}", sex="FM"[at % 2]).visit(
            [*codes, *sorted(beside)], age=50 + at % 20
        )
    return world


def denied_kin(n_patients: int = 300, *, tangled: bool = False) -> World:
    """Five effects a group, each of a cause of its own that is known to bring about no other.

    Args:
        n_patients: each has one cause with its effect, and two bystanders.
        tangled: most bystanders bring about an effect of each group too: what the cause denies may
            then be true by the bystander.
    """
    world = World()
    groups, kinds = "BDEFG", 5
    for group in groups:
        for at in range(kinds):
            cause, effect = f"ICD10CM:A{groups.index(group)}{at}.1", f"ICD10CM:{group}{at:02d}.1"
            word = group.lower() + chr(97 + at)
            world.diagnosis(
                cause, f"Causing {word[::-1]}uvw", concept=f"MONDO:c{word}", ccsr=[cause]
            )
            world.diagnosis(effect, f"Kind {word}xyz", concept=f"MONDO:e{word}", ccsr=[f"{group}0"])
            world.relation(cause, "CAUSES", effect)
            for other in range(kinds):
                kin = f"MONDO:e{group.lower()}{chr(97 + other)}"
                world.edge(f"MONDO:c{word}", "CAUSES", kin, negated=other != at)
    for at in range(8):
        name = f"Bystanding {chr(110 + at) * 4}"
        world.diagnosis(f"ICD10CM:H{at:02d}.1", name, concept=f"MONDO:b{at}", ccsr=[f"H{at}"])
        for turn, group in enumerate(groups if tangled and at < kinds else ""):
            kin = f"MONDO:e{group.lower()}{chr(97 + (at + turn) % kinds)}"
            # Two origins: one statement of a source that nobody described supports nothing.
            for origin in ("made", "another"):
                world.edge(f"MONDO:b{at}", "CAUSES", kin, origin=origin)
    for at in range(n_patients):
        group, kind = groups[at % 5], at // 5 % kinds
        beside = {f"ICD10CM:H{hash64('beside', at, turn) % 8:02d}.1" for turn in range(2)}
        codes = [f"ICD10CM:A{at % 5}{kind}.1", f"ICD10CM:{group}{kind:02d}.1"]
        world.patient(f"p{at:03d}", sex="FM"[at % 2]).visit([*codes, *sorted(beside)])
    return world
