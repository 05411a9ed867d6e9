"""The tables of a benchmark: templates and items."""

from __future__ import annotations

import pyarrow as pa

TEMPLATES = pa.schema(
    [
        ("id", pa.string()),  # see templates.template_id
        ("task", pa.string()),
        ("patient", pa.string()),
        ("visit", pa.string()),  # where the context stands
        ("target_visit", pa.string()),  # where the answer stands (the same visit, or the next)
        ("context", pa.list_(pa.string())),  # Code ids, the anchor among them
        ("context_routes", pa.list_(pa.string())),  # beside them; "" for what is no drug
        ("anchor_position", pa.int32()),  # from 0
        ("history", pa.list_(pa.string())),  # Code ids of earlier visits, in time order
        ("answer", pa.list_(pa.string())),  # Code ids
        ("answer_route", pa.string()),
        ("answer_concept", pa.string()),
        ("relation", pa.string()),
        ("predicate", pa.string()),
        ("cluster", pa.string()),  # keyed hash of the patient
        ("split", pa.string()),
        ("age", pa.int32()),
        ("age_band", pa.string()),
        ("sex", pa.string()),
        ("gap_days", pa.int32()),  # prognosis only
        ("visit_kind", pa.string()),
        ("icd_version", pa.string()),  # "9" or "10": the era of the context visit
        ("timing", pa.string()),  # discharge_coded or timestamped
        ("n_context", pa.int32()),
        ("n_related", pa.int32()),  # context events with a supported relation to the answer
        ("score", pa.float64()),  # of the relation
        ("sole_indication", pa.bool_()),  # treatment: the anchor is the only listed indication
        ("flags", pa.list_(pa.string())),  # newly_recorded, coding_rule, ...; sorted
    ]
)
"""templates.parquet. Sorted by id."""

ITEMS = pa.schema(
    [
        # "<template>.<format><n_options>.<strategy>.p<phrasing>.h<history>.s<seed>"
        ("item_id", pa.string()),
        ("template_id", pa.string()),
        ("relation_id", pa.string()),
        ("cluster", pa.string()),
        ("task", pa.string()),
        ("format", pa.string()),  # mcq, oeq, yesno, multi
        ("n_options", pa.int32()),  # 0 for open-ended, 2 for yes/no
        ("strategy", pa.string()),  # of distractors; "" for open-ended
        ("phrasing", pa.int32()),
        ("history", pa.int32()),
        ("stem", pa.string()),
        ("options", pa.list_(pa.string())),
        ("option_codes", pa.list_(pa.string())),  # of yes/no: what is asked about, twice
        ("distractor_reasons", pa.list_(pa.string())),  # one an option; "answer" for an answer
        ("answer", pa.list_(pa.string())),  # texts; several where several are right
        ("answer_index", pa.int32()),  # from 0; -1 for open-ended, and where several are right
        ("accepted_codes", pa.list_(pa.string())),  # codes and concepts an open answer may name
        ("timing", pa.string()),  # of the template, as are the next two
        ("n_related", pa.int32()),
        ("flags", pa.list_(pa.string())),  # and presumed, for a "no" that nothing contradicts
        ("split", pa.string()),
        ("seed", pa.int64()),
    ]
)
"""items.parquet. Sorted by item_id."""
