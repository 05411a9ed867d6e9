"""Patients and visits under names that nobody can undo without a key."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from ehrkg.ehr import schema
from ehrkg.ehr.assembly import split_of
from ehrkg.ehr.staging import STAGE
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.keys import SecretKey, read_or_make_key
from ehrkg.foundation.ledger import Ledger

PREFIXES = {"patient": "p", "visit": "v"}
"""What a name begins with, by the kind of what it names."""

HEADER = 1
"""The line whose names of columns are, in a file without a header, values."""

_WORD = re.compile(r"[^\s.,;:/|]+")
_SHORTEST = 5
"""Shorter ids ("7") are hidden where they are a whole value; as words in a longer text they would
be found by chance."""


class Pseudonyms:
    """The pseudonyms of a hospital's patients and visits.

    Args:
        key: the secret; the same key gives the same names.

    >>> names = Pseudonyms(SecretKey(bytes(32)))
    >>> names.patient("10000032") != names.visit("10000032")
    True
    """

    def __init__(self, key: SecretKey) -> None:
        self._key = key

    def patient(self, name: str) -> str:
        """The pseudonym of a patient."""
        return self._key.name(PREFIXES["patient"], name)

    def visit(self, name: str) -> str:
        """The pseudonym of a visit."""
        return self._key.name(PREFIXES["visit"], name)

    def hide(self, hospital: schema.Hospital, ledger: Ledger) -> schema.Hospital:
        """The hospital under pseudonyms, sorted by them; the unusable rows in the ledger likewise.

        A patient's split goes by the pseudonym, so that nothing is left that the id decides.

        Args:
            hospital: what was read.
            ledger: its quarantined rows are replaced.
        """
        if STAGE in ledger.quarantine:
            known = self._known(hospital, ledger.quarantine[STAGE])
            ledger.quarantine[STAGE] = self._hidden_rows(ledger.quarantine[STAGE], known)
        patients = self._renamed(hospital.patients, id=self.patient)
        splits = pa.array(map(split_of, patients["id"].to_pylist()), pa.string())
        at = patients.column_names.index("split")
        renamed = replace(
            hospital,
            patients=patients.set_column(at, "split", splits),
            visits=self._renamed(hospital.visits, patient=self.patient, id=self.visit),
            events=self._renamed(hospital.events, patient=self.patient, visit=self.visit),
            visit_codes=self._renamed(hospital.visit_codes, visit=self.visit),
        )
        return schema.in_order(renamed)

    def _known(self, hospital: schema.Hospital, unusable: pa.Table) -> dict[str, str]:
        """Every id that was read, usable or not, and its pseudonym."""
        patients = {*hospital.patients["id"].to_pylist(), *unusable["patient"].to_pylist()}
        visits = {*hospital.visits["id"].to_pylist(), *unusable["visit"].to_pylist()}
        known = {name: self.visit(name) for name in visits}
        known |= {name: self.patient(name) for name in patients}
        return {name: hidden for name, hidden in known.items() if len(name) >= _SHORTEST}

    def _renamed(self, table: pa.Table, **names: Callable[[str], str]) -> pa.Table:
        for column, name in names.items():
            words = table[column].combine_chunks().dictionary_encode()
            hidden = [name(one) if one else one for one in words.dictionary.to_pylist()]
            values = pa.array(hidden, pa.string()).take(words.indices)
            table = table.set_column(table.column_names.index(column), column, values)
        return table

    def _hidden_rows(self, rows: pa.Table, known: dict[str, str]) -> pa.Table:
        """Unusable rows, with no id in their columns nor in the text of the row."""
        named = rows.select(["patient", "visit", "raw"]).to_pylist()
        raw = [self._hidden_text(row, known) for row in named]
        hidden = self._renamed(rows, patient=self.patient, visit=self.visit)
        return hidden.set_column(
            hidden.column_names.index("raw"), "raw", pa.array(raw, pa.string())
        )

    def _hidden_text(self, row: dict[str, str], known: dict[str, str]) -> str:
        own = {row["visit"]: self.visit(row["visit"]), row["patient"]: self.patient(row["patient"])}
        own.pop("", None)
        values = json.loads(row["raw"])
        return json.dumps(
            {
                column: own.get(str(value).strip())
                or _WORD.sub(lambda word: known.get(word[0], word[0]), str(value))
                for column, value in values.items()
            },
            ensure_ascii=False,
        )


def as_pseudonyms(key: SecretKey | str | Path) -> Pseudonyms:
    """The pseudonyms that a key makes, or the key in a file, which is made if it is not there."""
    return Pseudonyms(key if isinstance(key, SecretKey) else read_or_make_key(Path(key)))


@contextmanager
def without_values() -> Iterator[None]:
    """Say in errors where something is wrong, and not what stands there: it may hold an id."""
    try:
        yield
    except InputError as error:
        if error.found is None:
            raise
        raise InputError(
            error.what,
            file=error.file,
            line=error.line,
            column=error.column if error.line != HEADER else None,
            expected=error.expected,
            todo=error.todo,
        ) from None
