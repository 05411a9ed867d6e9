"""A table that may still lie in its file: columns are read one by one, when first asked for."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ehrkg.foundation.errors import InputError


class Columns:
    """The columns of a table or of a Parquet file.

    Args:
        source: a table, or the path of a Parquet file.
        schema: the columns it must have.
        key: the column by which its rows are sorted; a table that is not, is sorted here.

    Raises:
        InputError: the file can't be read, or a column is missing.

    >>> schema = pa.schema([("id", pa.string())])
    >>> Columns(pa.table({"id": ["b", "a"]}), schema, "id")["id"].to_pylist()
    ['a', 'b']
    """

    def __init__(self, source: pa.Table | str | Path, schema: pa.Schema, key: str) -> None:
        self._file: Path | None = None
        self._held: dict[str, pa.ChunkedArray] = {}
        if isinstance(source, pa.Table):
            _demand(source.column_names, schema, None)
            ordered = source.sort_by(key)
            self.names = list(ordered.column_names)
            self.num_rows = ordered.num_rows
            self._held = {name: ordered[name] for name in self.names}
            return
        self._file = Path(source)
        try:
            metadata = pq.read_metadata(self._file)
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(
                f"this is no readable Parquet file: {error}",
                file=self._file,
                todo="build it again",
            ) from error
        self.names = list(metadata.schema.to_arrow_schema().names)
        self.num_rows = int(metadata.num_rows)
        _demand(self.names, schema, self._file)

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        if name not in self._held:
            self._held[name] = pq.read_table(self._file, columns=[name])[name]
        return self._held[name]

    def table(self) -> pa.Table:
        """All columns."""
        if self._file is not None and len(self._held) < len(self.names):
            whole = pq.read_table(self._file)
            self._held = {name: whole[name] for name in self.names}
        return pa.table({name: self._held[name] for name in self.names})


def _demand(names: list[str], schema: pa.Schema, file: Path | None) -> None:
    missing = [name for name in schema.names if name not in names]
    if missing:
        raise InputError(
            f"a column is missing: {', '.join(missing)}",
            file=file,
            column=missing[0],
            found=", ".join(names),
            expected=", ".join(schema.names),
            todo="take the files of one build of this version",
        )
