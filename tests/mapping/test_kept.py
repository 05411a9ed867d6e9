"""Links are found once: what was mapped before is taken again, and the result is the same."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ehrkg.ehr as ehr
from ehrkg import mapping, ontology
from ehrkg.foundation.ledger import Ledger
from ehrkg.mapping import Mapping, mapper
from ehrkg.mapping.mapper import Code
from ehrkg.mapping.overrides import Override, Overrides

from .worlds import codes as one_each


class Asked:
    """Which codes the methods were tried on."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.codes: list[str] = []
        links = mapper.Mapper.links

        def noted(chain: mapper.Mapper, code: Code) -> list:
            self.codes.append(code.id)
            return links(chain, code)

        patch.setattr(mapper.Mapper, "links", noted)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(monkeypatch)


@pytest.fixture(scope="module")
def codes(mimic4_demo: Path) -> pa.Table:
    found = ehr.read(mimic4_demo).codes
    return found.take(list(range(0, found.num_rows, 5)))


@pytest.fixture(scope="module")
def shipped() -> ontology.Knowledge:
    return ontology.shipped()


def known(shipped: ontology.Knowledge, codes: pa.Table) -> ontology.Knowledge:
    return ontology.merge(shipped, ontology.for_codes(codes))


def same(one: Mapping, other: Mapping) -> None:
    assert one.links.equals(other.links)
    assert one.drug_strings.equals(other.drug_strings)


def test_only_new_codes_are_mapped_and_the_result_is_that_of_all(
    codes: pa.Table, shipped: ontology.Knowledge, asked: Asked, tmp_path: Path
) -> None:
    """A real hospital's codes, a fifth of them; a tenth of these come later."""
    at = pa.array([place % 10 == 0 for place in range(codes.num_rows)])
    first, new = codes.filter(pc.invert(at)), codes.filter(at)
    mapping.map_codes(first, known(shipped, first), kept=tmp_path / "links")
    del asked.codes[:]
    ledgers = Ledger(), Ledger()
    everything = known(shipped, codes)
    added = mapping.map_codes(codes, everything, kept=tmp_path / "links", ledger=ledgers[0])
    assert set(asked.codes) == set(new["id"].to_pylist())
    same(added, mapping.map_codes(codes, everything, ledger=ledgers[1]))
    assert ledgers[0].as_json() == ledgers[1].as_json()
    del asked.codes[:]
    same(mapping.map_codes(codes, everything, kept=tmp_path / "links"), added)
    assert asked.codes == []


def test_what_links_rest_on_decides_whether_they_are_found_anew(
    shipped: ontology.Knowledge, asked: Asked, tmp_path: Path
) -> None:
    table = one_each("ICD10CM:I50.23", "ICD9CM:428.0", "DRUGNAME:furosemide")
    knowledge = known(shipped, table)

    def mapped(table: pa.Table, knowledge: ontology.Knowledge, **more: object) -> set[str]:
        del asked.codes[:]
        mapping.map_codes(table, knowledge, kept=tmp_path / "links", **more)
        return set(asked.codes)

    everyone = set(table["id"].to_pylist())
    assert mapped(table, knowledge) == everyone
    assert mapped(table, knowledge) == set()
    # another name of one code
    names = ["Heart trouble", *table["name"].to_pylist()[1:]]
    renamed = table.set_column(table.column_names.index("name"), "name", pa.array(names))
    assert mapped(renamed, knowledge) == {"ICD10CM:I50.23"}
    # what the user says of one code, which is looked at each time
    own = Overrides(
        {"ICD9CM:428.0": (Override("MONDO:0005252", "skos:exactMatch", 1.0, False, 2),)}, "own.tsv"
    )
    assert mapped(renamed, knowledge, overrides=own) == {"ICD9CM:428.0"}
    # one mapping row fewer
    less = ontology.Knowledge(
        **{
            name: getattr(knowledge, name)
            for name in ("concepts", "synonyms", "edges", "attributes", "passages")
        },
        mappings=knowledge.mappings.slice(1),
    )
    assert mapped(renamed, less) == everyone
