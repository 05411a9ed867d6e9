"""The chain of methods from codes to concepts, run over a hospital's codes."""

from __future__ import annotations

from collections.abc import Mapping as Mapped
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from ehrkg.foundation.embedding import Embedder
from ehrkg.foundation.ledger import Ledger
from ehrkg.mapping import NEAR, mapper
from ehrkg.mapping import kept as store
from ehrkg.mapping.drug_links import ingredients
from ehrkg.mapping.index import Index
from ehrkg.mapping.links import Link, best
from ehrkg.mapping.mapper import Code
from ehrkg.mapping.overrides import Overrides
from ehrkg.mapping.schema import DRUG_STRINGS, LINKS, Mapping
from ehrkg.ontology.schema import Knowledge

STAGE = "map"


def map_codes(
    codes: pa.Table,
    knowledge: Knowledge,
    *,
    overrides: Overrides | None = None,
    embedder: Embedder | None = None,
    cache: Path | None = None,
    kept: Path | None = None,
    ledger: Ledger | None = None,
) -> Mapping:
    """Link the codes of a hospital to the concepts of the knowledge.

    What the user says of a code stands. Else diagnosis and procedure codes go by mappings and
    cross-references, of the code and of what stands above it in its tree, and by name; where these
    give nothing near, by GEM to the other ICD version, by the axes of ICD-10-PCS, and by the code
    that a mistyped one stands for; last, with an embedder, by a name that is nearly theirs. Codes
    of SNOMED CT, RxNorm, ATC and NDC go by what the knowledge says of them, and by name. Drug
    strings go by their ingredients. The links at the lowest level are kept, all of them. Nothing is
    linked to a chapter, a block, a group of codes, or "disease".

    Args:
        codes: the schema CODES.
        knowledge: concepts with names and mappings, and the code trees (``ontology.for_codes``).
        overrides: a user's own mapping (``read_overrides``).
        embedder: for the last resort, which is left out without one.
        cache: a folder that keeps vectors.
        kept: a folder that keeps what was found; codes that were mapped before, and of which
            nothing has changed since, are not mapped again. The result is the same without.
        ledger: gets, for each kind of code: how many are linked, near, and exact; and how many rows
            of the user's mapping were of use.

    Returns:
        LINKS and DRUG_STRINGS; a function of the sets of rows given, not of their order.
    """
    rows = code_rows(codes)
    stated = Overrides() if overrides is None else overrides
    digests = _digests(rows, knowledge, stated, embedder) if kept is not None else {}
    before = store.read(kept).of(digests)
    known = set(before.codes["id"].to_pylist())
    found = before
    if new := [code for code in rows if code.id not in known]:
        chain = mapper.build(knowledge, rows, stated)
        found = before.with_more(_mapped(new, chain, digests, embedder, cache))
    if kept is not None and new:
        store.write(found, kept)
    if ledger is not None:
        _account(rows, found, ledger)
        if overrides is not None:
            there = frozenset(knowledge.concepts["id"].to_pylist())
            overrides.account(frozenset(code.id for code in rows), there, ledger)
    return Mapping(found.links, found.drug_strings)


def _digests(
    rows: Sequence[Code], knowledge: Knowledge, overrides: Overrides, embedder: Embedder | None
) -> dict[str, str]:
    """By code; those that the user speaks of have none, for they are mapped each time."""
    name = f"{embedder.name} {embedder.dimension}" if embedder is not None else ""
    found = store.digests(rows, knowledge, name)
    return {code: digest for code, digest in found.items() if code not in overrides.rows}


def _mapped(
    rows: Sequence[Code],
    chain: mapper.Mapper,
    digests: Mapped[str, str],
    embedder: Embedder | None,
    cache: Path | None,
) -> store.Mapped:
    """Codes mapped by the methods."""
    links: list[Link] = []
    strings: list[tuple[str, str, list[str]]] = []
    reasons: dict[str, str] = {}
    by_code = {code.id: chain.links(code) for code in rows}
    if embedder is not None:
        left = [code for code in rows if all(link.levels > NEAR for link in by_code[code.id])]
        for code_id, more in mapper.nearly(chain, left, embedder, cache).items():
            by_code[code_id] = best([*by_code[code_id], *more])
    for code in rows:
        found = by_code[code.id]
        links += found
        if code.kind == "drug":
            reading = chain.reading(code)
            strings.append((code.id, reading.kind, ingredients(reading, chain.index)))
            if not found:
                reasons[code.id] = f"no_ingredient_{reading.kind}"
        elif not found:
            reasons[code.id] = _reason(code.id, chain)
    codes = [
        {"id": code.id, "digest": digests.get(code.id, ""), "reason": reasons.get(code.id, "")}
        for code in rows
    ]
    table = pa.Table.from_pylist(codes, schema=store.CODES)
    return store.Mapped(table, _link_table(links), _string_table(strings))


def code_rows(codes: pa.Table) -> list[Code]:
    """CODES as sorted rows of what mapping needs."""
    columns = (codes[name].to_pylist() for name in ("id", "name", "kind"))
    return sorted(Code(code, name or "", kind) for code, name, kind in zip(*columns, strict=True))


def _reason(code: str, chain: mapper.Mapper) -> str:
    if code in chain.overrides.rows:
        return "none_by_the_users_mapping"
    return _no_way(code, chain.index)


def _no_way(code: str, index: Index) -> str:
    return "no_mapping_or_name" if code in index.names else "code_without_tree"


def _link_table(links: Sequence[Link]) -> pa.Table:
    rows = [dict(zip(LINKS.names, link.row(), strict=True)) for link in links]
    table = pa.Table.from_pylist(rows, schema=LINKS)
    keys = [(name, "ascending") for name in ("code", "levels", "concept", "method")]
    return table.sort_by(keys).combine_chunks()


def _string_table(strings: Sequence[tuple[str, str, list[str]]]) -> pa.Table:
    rows = [dict(zip(DRUG_STRINGS.names, row, strict=True)) for row in sorted(strings)]
    return pa.Table.from_pylist(rows, schema=DRUG_STRINGS)


def _account(
    rows: Sequence[Code],
    found: store.Mapped,
    ledger: Ledger,
) -> None:
    """Three balanced lines a kind: linked at all, near, exact."""
    ids, why = (found.codes[name].to_pylist() for name in ("id", "reason"))
    reasons = dict(zip(ids, why, strict=True))
    lowest: dict[str, int] = {}
    columns = (found.links[name].to_pylist() for name in ("code", "levels"))
    for code, level in zip(*columns, strict=True):
        lowest[code] = min(level, lowest.get(code, level))
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
