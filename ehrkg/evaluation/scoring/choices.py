"""What was chosen, by code: an option's place changes with its order, its code does not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.schema import SCORES

Ints = npt.NDArray[np.int64]


def told_by_code(scores: pa.Table, asked: pa.Table) -> pa.Table:
    """The scores with ``chosen_codes`` and ``answer_index`` filled in from what was asked.

    Args:
        scores: the schema ``SCORES``, of one setting or several that show the same options.
        asked: the questions as they were put, with the schema ``ITEMS``.

    Returns:
        The same rows. ``chosen_codes`` is null where nothing was chosen (a tie, an open answer,
        a text that could not be read); of a yes/no question it holds the word.
    """
    at = np.asarray(
        pc.fill_null(pc.index_in(scores["item_id"], asked["item_id"].combine_chunks()), -1),
        dtype=np.int64,
    )
    known = at >= 0
    right = asked["answer_index"].take(pa.array(at, mask=~known))
    columns = {"chosen_codes": _chosen(scores, asked, at), "answer_index": right}
    for name, values in columns.items():
        place = scores.schema.get_field_index(name)
        scores = scores.set_column(place, SCORES.field(name), values.cast(SCORES.field(name).type))
    return scores


def _chosen(scores: pa.Table, asked: pa.Table, at: Ints) -> pa.Array:
    """A list a row: the codes at the places that were chosen."""
    choice = np.asarray(pc.fill_null(scores["choice"], -1), dtype=np.int64)
    several = scores["chosen"].combine_chunks()
    sizes = np.asarray(pc.fill_null(pc.list_value_length(several), 0), dtype=np.int64)
    one = (choice >= 0) & (sizes == 0)
    sizes = np.where(at < 0, 0, np.where(one, 1, sizes))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    row = np.repeat(np.arange(len(sizes)), sizes)
    places = np.repeat(choice, sizes)
    listed = ~one[row]
    kept = pc.fill_null(several, []).filter(pa.array(at >= 0)).flatten() if listed.any() else []
    places[listed] = np.asarray(kept, dtype=np.int64)
    starts, codes = _codes(asked)
    found = codes.take(pa.array(starts[at[row]] + places))
    empty = pa.array(sizes == 0)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), found, mask=empty)


def _codes(asked: pa.Table) -> tuple[Ints, pa.Array]:
    """Where each question's options begin, and the code of each; the word, of yes and no."""
    listed, texts = (asked[name].combine_chunks() for name in ("option_codes", "options"))
    starts = np.cumsum([0, *np.asarray(pc.fill_null(pc.list_value_length(listed), 0))])[:-1]
    sizes = np.diff(np.concatenate([starts, [len(listed.flatten())]]))
    yesno = np.repeat(np.asarray(pc.equal(asked["format"], "yesno")), sizes)
    return starts.astype(np.int64), pc.if_else(pa.array(yesno), texts.flatten(), listed.flatten())
