"""How long ontologies take to load: an OBO of Mondo's size, and a real one.

    python tests/benchmarks/ontology_formats.py [--obo FILE]

The target is 20 s for Mondo or DO as OBO on two cores. On a busy machine the time of the processor
says more than the clock. There is no peer: fastobo refuses the Disease Ontology of 2016 (an
unescaped reference), and horned-owl's reader was not done with a file of this size after minutes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TARGET = 20.0
TERMS = 30_000
"""Mondo of 2024 has about 26,000 live terms, and some 45 lines a term."""


def generated(path: Path) -> Path:
    """An OBO file of Mondo's size, with made-up content."""
    with path.open("w", encoding="utf-8") as handle:
        handle.write("format-version: 1.2\ndata-version: made-up\n")
        for number in range(1, TERMS + 1):
            own = f"MONDO:{number:07d}"
            lines = ["", "[Term]", f"id: {own}", f"name: disease {number}"]
            lines.append(f'def: "Made-up definition of disease {number}." [X:{number}]')
            lines += [f'synonym: "disease {number}, form {at}" EXACT [X:{at}]' for at in range(10)]
            lines += [
                f'xref: {prefix}:{number + at} {{source="MONDO:equivalentTo"}}'
                for prefix in ("DOID", "UMLS", "MESH", "OMIM", "ICD10CM", "SCTID", "NCIT")
                for at in range(2)
            ]
            lines += [f"is_a: MONDO:{max(1, number // at):07d} ! parent" for at in (2, 3)]
            lines += [
                f"relationship: disease_has_feature MONDO:{number % 97 + 1:07d}",
                f"intersection_of: MONDO:{max(1, number // 2):07d}",
                f"intersection_of: disease_has_location MONDO:{number % 89 + 1:07d}",
                *[f"property_value: exactMatch X:{number}{at}" for at in range(8)],
            ]
            handle.write("\n".join(lines) + "\n")
    return path


def timed(what: str, work: Callable[[], object]) -> float:
    began, busy = time.perf_counter(), time.process_time()
    work()
    taken = time.process_time() - busy
    print(
        f"{what}: {taken:.1f} s of the processor, {time.perf_counter() - began:.1f} s by the clock"
    )
    return taken


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--obo", type=Path, help="a real OBO file")
    asked = parser.parse_args().obo
    from ehrkg import ontology

    with tempfile.TemporaryDirectory() as folder:
        files = [generated(Path(folder) / "mondo-sized.obo"), *([asked] if asked else [])]
        for file in files:
            size = file.stat().st_size / 1e6
            ours = timed(f"{file.name} ({size:.0f} MB), ehrkg", lambda f=file: ontology.load(f))
            met = "met" if ours <= TARGET else "MISSED"
            print(f"target {TARGET:.0f} s: {met}")


if __name__ == "__main__":
    main()
