"""Derive the table of prefixes from the Bioregistry.

``python -m ehrkg.ontology.derive_prefixes`` writes prefixes_bioregistry.tsv beside this module. The
package ``bioregistry`` must be installed; whoever only uses the table needs it not. The same
edition of the Bioregistry gives the same bytes.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ehrkg.foundation.storage import write_atomically

COLUMNS = ("prefix", "synonyms", "uris", "digits")
PASSED_OVER = re.compile(
    r"//(www\.)?(bioregistry\.io|identifiers\.org|n2t\.net|bio2rdf\.org|ebi\.ac\.uk/ols|ontobee\.org"
    r"|bioportal\.bioontology\.org|scholia|w3id\.org/(?!biolink))|[\s|]|%25"
)
"""Addresses made of the prefix by one rule, which ``curies`` knows, and those of search pages."""
_DIGITS = re.compile(r"\^\\d\{(\d+)\}\$")


def rows() -> Iterator[tuple[str, str, str, str]]:
    """A row a prefix: as used here, other spellings, beginnings of addresses, length of the number.

    A prefix is written as the Bioregistry prefers it, in capitals where it has no preference, as in
    the Biolink Model. Addresses stand without their scheme. What two prefixes claim goes to the
    first. The length is given where every identifier has the same number of digits.
    """
    registry: Any = importlib.import_module("bioregistry").manager.registry
    live = {key: registry[key] for key in sorted(registry) if not registry[key].is_deprecated()}
    taken = {_prefix(key, resource).upper() for key, resource in live.items()}
    for key, resource in live.items():
        prefix = _prefix(key, resource)
        names = {name.upper() for name in (key, *resource.get_synonyms())} - taken
        uris = {
            uri.partition(":")[2]
            for uri in resource.get_uri_prefixes()
            if uri.startswith("http") and not PASSED_OVER.search(uri)
        } - taken
        taken |= names | uris
        fixed = _DIGITS.fullmatch(resource.get_pattern() or "")
        digits = fixed.group(1) if fixed else ""
        yield prefix, "|".join(sorted(names)), "|".join(sorted(uris)), digits


def _prefix(key: str, resource: Any) -> str:
    return str(resource.get_preferred_prefix() or key.upper())


def main() -> None:
    """Write the table."""
    target = Path(__file__).with_name("prefixes_bioregistry.tsv")
    edition = version("bioregistry")
    lines = [
        f"# Derived from the Bioregistry {edition} (https://bioregistry.io, CC0-1.0) by "
        "ehrkg.ontology.derive_prefixes.",
        "\t".join(COLUMNS),
        *("\t".join(row) for row in rows()),
    ]
    write_atomically(
        target, lambda path: path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    )


if __name__ == "__main__":
    main()
