"""What the training patients' visits hold: all that a baseline may learn of a hospital."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.schema import Hospital
from ehrkg.evaluation.asking.asked import LEARNT_FROM, TRAIN, Ints, half_of, places

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix, csr_matrix


@dataclass(frozen=True, eq=False)
class Practice:
    """Visits of the training split, as sparse tables of visit by code.

    Attributes:
        codes: ids of all codes recorded there, sorted.
        held: a row a visit, 1 where a code is recorded; visits stand by patient and ordinal.
        half: 1 or 2, of each visit: its patient's.
        after: of each visit, the row of the patient's next one; -1 for none.
    """

    codes: pa.Array
    held: csr_matrix
    half: Ints
    after: Ints

    def learnt_by(self, fold: int) -> Ints:
        """Rows of the visits that a question of a fold is answered from."""
        return np.flatnonzero(np.isin(self.half, LEARNT_FROM[fold]))

    def visits_with(self, fold: int) -> Ints:
        """How many of those visits hold each code."""
        return np.asarray(self.held[self.learnt_by(fold)].sum(axis=0)).reshape(-1).astype(np.int64)

    def meetings(self, fold: int, span: str, answers: Ints) -> tuple[csc_matrix, Ints, Ints, int]:
        """How often codes and answers meet in those visits.

        Args:
            fold: see ``LEARNT_FROM``.
            span: of the task: "visit" (both in one visit), or "next" (the answer in the visit
                after).
            answers: the codes that count as answers, as places in ``codes``.

        Returns:
            Counts (codes by answers), the visits each code stands in, the visits each answer stands
            in, and how many visits (or pairs of visits) there are.
        """
        rows = self.learnt_by(fold)
        if span == "next":
            rows = rows[self.after[rows] >= 0]
        given = self.held[rows]
        found = (self.held[self.after[rows]] if span == "next" else given)[:, answers]
        return (
            (given.T @ found).tocsc(),
            np.asarray(given.sum(axis=0)).reshape(-1).astype(np.int64),
            np.asarray(found.sum(axis=0)).reshape(-1).astype(np.int64),
            len(rows),
        )


def practice_of(hospital: Hospital, templates: pa.Table) -> Practice:
    """Lay out the visits of a hospital's training patients.

    Args:
        hospital: its tables; visit codes are read in pieces.
        templates: the schema ``TEMPLATES``, which say by which cluster a patient goes: the halves
            of questions and of visits are the same.
    """
    patients = hospital.patients.filter(pc.equal(hospital.patients["split"], TRAIN))
    ids = patients["id"].combine_chunks()
    visits = hospital.visits.filter(pc.is_in(hospital.visits["patient"], value_set=ids))
    visits = visits.sort_by([("patient", "ascending"), ("ordinal", "ascending")])
    patient = places(visits["patient"].combine_chunks(), ids)
    halves = np.array(_halves(ids.to_pylist(), templates), dtype=np.int64)
    follows = np.flatnonzero(patient[1:] == patient[:-1])
    after = np.full(len(patient), -1, np.int64)
    after[follows] = follows + 1
    codes = hospital.codes["id"].combine_chunks().unique().sort()
    pieces = hospital.scan("visit_codes", ["visit", "code"], coded=["visit", "code"])
    held = _held(pieces, visits["id"].combine_chunks(), codes)
    return Practice(codes, held, halves[patient], after)


def _halves(patients: Sequence[str], templates: pa.Table) -> list[int]:
    known = templates.select(["patient", "cluster"]).group_by(["patient", "cluster"]).aggregate([])
    clusters = dict(zip(known["patient"].to_pylist(), known["cluster"].to_pylist(), strict=True))
    return [half_of(clusters.get(patient, patient)) for patient in patients]


def _held(pieces: Iterable[pa.Table], visits: pa.Array, codes: pa.Array) -> Any:
    from scipy.sparse import csr_matrix

    rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for piece in pieces:
        at = [
            places(pc.cast(piece[name].combine_chunks(), pa.string()), among)
            for name, among in (("visit", visits), ("code", codes))
        ]
        there = (at[0] >= 0) & (at[1] >= 0)
        rows.append(at[0][there])
        columns.append(at[1][there])
    row, column = np.concatenate(rows), np.concatenate(columns)
    ones = np.ones(len(row), np.int32)
    held = csr_matrix((ones, (row, column)), shape=(len(visits), len(codes)))
    held.sum_duplicates()
    held.data[:] = 1
    return held
