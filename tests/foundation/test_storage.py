"""The one writer and the one fingerprint."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ehrkg.foundation.hashing import order_by_hash, uniform, unit
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import content_hash, file_hash, read_parquet, write_parquet

rows = st.lists(
    st.fixed_dictionaries(
        {"a": st.text(), "b": st.none() | st.integers(-5, 5), "c": st.lists(st.text(), max_size=2)}
    ),
    min_size=1,
)
SCHEMA = pa.schema([("a", pa.string()), ("b", pa.int64()), ("c", pa.list_(pa.string()))])


@given(rows, st.randoms(use_true_random=False))
def test_content_hash_ignores_order_and_chunks_and_nothing_else(data, random):
    table = pa.Table.from_pylist(data, SCHEMA)
    shuffled = data[:]
    random.shuffle(shuffled)
    cut = len(data) // 2
    other = pa.concat_tables(
        [pa.Table.from_pylist(shuffled[:cut], SCHEMA), pa.Table.from_pylist(shuffled[cut:], SCHEMA)]
    )
    assert content_hash(table) == content_hash(other)
    changed = [dict(row) for row in data]
    changed[0]["a"] += "x"
    assert content_hash(pa.Table.from_pylist(changed, SCHEMA)) != content_hash(table)


cells = st.fixed_dictionaries(
    {
        "text": st.none() | st.text(max_size=3),
        "number": st.none() | st.sampled_from([0.0, -0.0, 1e-12, 0.1 + 0.2, 1e30, float("inf")]),
        "lists": st.none() | st.lists(st.none() | st.text(max_size=2), max_size=2),
        "flag": st.none() | st.booleans(),
    }
)


def plainly(value):
    """A value's canonical text, as the documentation of the fingerprint has it."""
    if value is None:
        return "\\N"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(round(value, 9) + 0.0)
    if isinstance(value, list):
        return "[" + "".join(plainly(item).replace(",", "\\,") + "," for item in value) + "]"
    return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


@given(st.lists(cells, max_size=8))
def test_content_hash_is_that_of_the_sorted_canonical_lines(data):
    kinds = [pa.string(), pa.float64(), pa.list_(pa.string()), pa.bool_()]
    names = ["text", "number", "lists", "flag"]
    table = pa.Table.from_pylist(data, pa.schema(list(zip(names, kinds, strict=True))))
    lines = sorted([plainly(row[name]) for name in sorted(names)] for row in data)
    whole = "\n".join(["\t".join(sorted(names)), *("\t".join(line) for line in lines)])
    assert content_hash(table) == hashlib.sha256(whole.encode()).hexdigest()


def test_same_rows_give_the_same_bytes_whatever_their_chunks(tmp_path):
    table = pa.table({"a": list(range(1000)), "b": ["é\n\t\\"] * 1000})
    write_parquet(table, tmp_path / "one.parquet")
    write_parquet(pa.concat_tables([table[:7], table[7:]]), tmp_path / "two.parquet")
    assert file_hash(tmp_path / "one.parquet") == file_hash(tmp_path / "two.parquet")
    assert read_parquet(tmp_path / "one.parquet").equals(table)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.parquet", "two.parquet"]


def test_draws_depend_on_identity_alone():
    import numpy as np

    assert uniform(7, np.array([3, 1]))[0] == uniform(7, np.array([3]))[0]
    assert 0 <= unit(7, "x") < 1
    assert order_by_hash(["b", "a"], 1) == order_by_hash(["a", "b"], 1)
    assert abs(uniform(7, np.arange(20_000)).mean() - 0.5) < 0.01


def test_a_ledger_that_does_not_balance_is_a_fault():
    with pytest.raises(ValueError, match="does not balance"):
        Ledger().record("read", "rows", rows_in=2, rows_out=1)
