"""The command line of the derivation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ehrkg.foundation.errors import EhrkgError
from ehrkg.ontology import derive as package
from ehrkg.ontology.derive.run import counts, derive


def main(arguments: Sequence[str] | None = None) -> int:
    """Derive, and print what each source says and what was left out; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m ehrkg.ontology.derive", description=package.__doc__
    )
    parser.add_argument("tables", type=Path, help="the folder of open tables")
    parser.add_argument("--out", type=Path, default=Path("ontologies"), help="where core/ lies")
    given = parser.parse_args(arguments)
    try:
        derived = derive(given.tables, given.out)
    except EhrkgError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    write = sys.stdout.write
    write(f"{'distinct pairs':22}{'treats':>9}{'prevents':>10}{'contraindicated':>17}\n")
    for folder, treats, prevents, bars in counts(derived):
        write(f"{folder:22}{treats:9,d}{prevents:10,d}{bars:17,d}\n")
    for table, rows in sorted(derived.read.items()):
        write(f"\n{rows:7,d}  rows of {table}\n")
        for (name, reason), number in sorted(derived.left.items()):
            if name == table:
                write(f"{number:7,d}    left out: {reason}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
