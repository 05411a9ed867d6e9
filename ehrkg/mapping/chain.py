"""The chain of methods from codes to concepts."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ehrkg.foundation.ledger import Ledger
from ehrkg.mapping import NEAR, crossref, gem, index, labels
from ehrkg.mapping.drugs import lexicon
from ehrkg.mapping.drugs.reading import Reading, read_drug
from ehrkg.mapping.links import Link, best
from ehrkg.mapping.names import Key, read_yaml
from ehrkg.mapping.schema import DRUG_STRINGS, LINKS, Mapping
from ehrkg.ontology.schema import Knowledge

STAGE = "map"
HOW = {
    "unqualified": "with no more said means",
    "prefix": "begins the name",
    "fuzzy": "is nearly the name",
}
"""How an explanation says that a drug was not read under its very name."""


def map_codes(codes: pa.Table, knowledge: Knowledge, *, ledger: Ledger | None = None) -> Mapping:
    """Link the codes of a hospital to the concepts of the knowledge.

    Diagnosis and procedure codes go by mappings and cross-references, of the code and of what
    stands above it in its tree, and by name; where these give nothing near, by GEM to the other ICD
    version. Drug strings go by their ingredients. The links at the lowest level are kept, all
    of them. Nothing is linked to a chapter, a block, a group of codes, or "disease".

    Args:
        codes: the schema CODES.
        knowledge: concepts with names and mappings, and the code trees (``ontology.for_codes``).
        ledger: gets, for each kind of code: how many are linked, near, and exact.

    Returns:
        LINKS and DRUG_STRINGS; a function of the sets of rows given, not of their order.
    """
    rows = sorted(
        zip(
            codes["id"].to_pylist(),
            codes["name"].to_pylist(),
            codes["kind"].to_pylist(),
            strict=True,
        )
    )
    looked_up = index.build(knowledge)
    kinds = {kind: frozenset(fit) for kind, fit in read_yaml("rules.yaml")["kinds"].items()}
    names = {
        kind: labels.by_name(index.labels(knowledge, looked_up.kinds, kinds[kind]))
        for kind in ("diagnosis", "procedure")
    }
    drugs = lexicon.build(index.labels(knowledge, looked_up.kinds, kinds["drug"]))
    links: list[Link] = []
    strings: list[tuple[str, str, list[str]]] = []
    reasons: dict[str, str] = {}
    for code, name, kind in rows:
        if kind == "drug":
            reading = read_drug(code.partition(":")[2] or name or "", drugs)
            links += _drug_links(code, reading, looked_up)
            strings.append((code, reading.kind, _ingredients(reading, looked_up)))
            if not reading.found:
                reasons[code] = f"no_ingredient_{reading.kind}"
            continue
        found = best(_code_links(code, name or "", looked_up, names.get(kind, {})))
        links += found
        if not found:
            reasons[code] = _reason(code, looked_up)
    if ledger is not None:
        _account(rows, links, reasons, ledger)
    return Mapping(_link_table(links), _string_table(strings))


def _code_links(
    code: str, name: str, looked_up: index.Index, names: dict[Key, tuple[index.Label, ...]]
) -> list[Link]:
    """The code's own mappings and names; where these give nothing near, its equivalents' too."""

    def reach(place: str) -> list[Link]:
        found = crossref.find(place, looked_up)
        if not any(link.levels == 0 for link in found):
            found += labels.find(place, name if place == code else "", looked_up, names)
        return found

    found = reach(code)
    if not any(link.levels <= NEAR for link in found):
        found += gem.find(code, looked_up, reach)
    return found


def _reason(code: str, looked_up: index.Index) -> str:
    if code not in looked_up.names:
        return "code_without_tree"
    return "no_mapping_or_name"


def _drug_links(code: str, reading: Reading, looked_up: index.Index) -> list[Link]:
    levels = read_yaml("rules.yaml")["vehicles"]["levels"] if reading.vehicle else 0
    single = len(reading.concepts) == 1 and not reading.partly and not reading.vehicle
    chosen: dict[str, Link] = {}
    for item in reading.found:
        for concept in item.hit.concepts:
            method = item.hit.method
            label = item.hit.label
            how = HOW.get(method, "is")
            link = Link(
                code=code,
                levels=levels,
                concept=concept,
                method=method,
                predicate="skos:exactMatch" if single else "skos:broadMatch",
                confidence=reading.confidence(item),
                source=label.source,
                explanation=(
                    f"{item.phrase!r} {how} {label.text!r}, "
                    f"{'a brand' if label.scope == 'brand' else 'a name'} of "
                    f"{looked_up.names.get(concept) or concept}"
                    f"{f', which {item.product!r} holds' if item.product else ''}"
                    f"{', ordered as a vehicle' if reading.vehicle else ''}"
                ),
            )
            if concept not in chosen or link.confidence > chosen[concept].confidence:
                chosen[concept] = link
    return list(chosen.values())


def _ingredients(reading: Reading, looked_up: index.Index) -> list[str]:
    return sorted({(looked_up.names.get(c) or c).lower() for c in reading.concepts})


def _link_table(links: Sequence[Link]) -> pa.Table:
    rows = [dict(zip(LINKS.names, link.row(), strict=True)) for link in links]
    table = pa.Table.from_pylist(rows, schema=LINKS)
    keys = [(name, "ascending") for name in ("code", "levels", "concept", "method")]
    return table.sort_by(keys).combine_chunks()


def _string_table(strings: Sequence[tuple[str, str, list[str]]]) -> pa.Table:
    rows = [dict(zip(DRUG_STRINGS.names, row, strict=True)) for row in sorted(strings)]
    return pa.Table.from_pylist(rows, schema=DRUG_STRINGS)


def _account(
    rows: Sequence[tuple[str, str, str]],
    links: Sequence[Link],
    reasons: dict[str, str],
    ledger: Ledger,
) -> None:
    """Three balanced lines a kind: linked at all, near, exact."""
    lowest: dict[str, int] = {}
    for link in links:
        lowest[link.code] = min(link.levels, lowest.get(link.code, link.levels))
    for kind in sorted({kind for _, _, kind in rows}):
        codes = [code for code, _, of in rows if of == kind]
        unlinked: dict[str, int] = {}
        for code in codes:
            if code not in lowest:
                unlinked[reasons[code]] = unlinked.get(reasons[code], 0) + 1
        levels = [lowest[code] for code in codes if code in lowest]
        near = sum(level <= NEAR for level in levels)
        exact = sum(level == 0 for level in levels)
        ledger.record(STAGE, kind, rows_in=len(codes), rows_out=len(levels), dropped=unlinked)
        ledger.record(
            STAGE,
            f"{kind} linked near",
            rows_in=len(levels),
            rows_out=near,
            dropped={"broader": len(levels) - near},
        )
        ledger.record(
            STAGE,
            f"{kind} linked exactly",
            rows_in=near,
            rows_out=exact,
            dropped={"one_level_up": near - exact},
        )
