"""A build's mapping: read back from its graph, and explained code by code."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg import ontology
from ehrkg.ehr.codes import code_system, system_of
from ehrkg.foundation.errors import UsageError
from ehrkg.mapping import MappingExplanation, Overrides, explain_mapping
from ehrkg.mapping.stored import stored_mapping as stored_mapping
from ehrkg.ontology.schema import Knowledge


def explain_code(
    code: str, knowledge: Knowledge, codes: pa.Table, overrides: Overrides | None
) -> MappingExplanation:
    """Every method tried on a code, of the hospital or not.

    Args:
        code: a Code id.
        knowledge: what is known.
        codes: the hospital's, with their names.
        overrides: a user's own mapping.

    Raises:
        UsageError: it has no code system.
    """
    system = code_system(system_of(code))
    rows = codes.filter(pc.equal(codes["id"], code)).to_pylist()
    name, kind = (rows[0]["name"], rows[0]["kind"]) if rows else ("", system.kind)
    asked = pa.table({"id": [code], "name": [name or ""], "kind": [kind]})
    if kind not in ("diagnosis", "drug", "procedure"):
        raise UsageError(f"no mapping for a code of kind {kind!r}", todo="name another code")
    whole = ontology.merge(knowledge, ontology.for_codes(asked))
    return explain_mapping(code, whole, kind=kind, name=name or "", overrides=overrides)
