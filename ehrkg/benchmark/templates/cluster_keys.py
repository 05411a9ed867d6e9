"""Names for clusters of questions that do not give the patient away.

A plain hash of a patient's id can be undone by whoever hashes every id there may be. The name is
therefore mixed with a secret that only the holder of the hospital's tables can work out.
"""

from __future__ import annotations

import hashlib

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.hashing import short_id


class ClusterKeys:
    """The cluster of each patient of a hospital: the same for the same tables, and no other way.

    The secret is a hash over all patients, visits and times of admission. It is written nowhere:
    not among the results, nor in what is kept between the stages.

    Args:
        hospital: what reading gave.
        seed: of the build; another seed gives other names.
    """

    def __init__(self, hospital: Hospital, seed: int) -> None:
        digest = hashlib.blake2b(digest_size=32, person=b"ehrkg cluster")
        for patient in sorted(hospital.patients["id"].to_pylist()):
            digest.update(f"{patient}\x1e".encode())
        rows = zip(
            *(hospital.visits[name].to_pylist() for name in ("patient", "id", "admitted")),
            strict=True,
        )
        for row in sorted(rows, key=lambda row: row[:2]):
            digest.update(("\x1f".join(map(str, row)) + "\x1e").encode())
        self._secret = digest.hexdigest()
        self._seed = seed

    def of(self, patient: str) -> str:
        """The cluster of a patient, by id."""
        return short_id("c", self._secret, self._seed, patient)
