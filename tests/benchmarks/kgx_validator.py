"""Hold a KGX export against KGX's own validator, with the Biolink Model its package ships.

KGX pins older versions of what this package needs, so it is run by the Python of an environment of
its own, which holds kgx, bmt and biolink-model:

    ehrkg graph export OUT --graph G --for kgx
    kgx-env/bin/python tests/benchmarks/kgx_validator.py OUT

Nothing is fetched: the model is read from the biolink-model package, and the prefixes that KGX
looks up in the model's JSON-LD context are those that the model itself names.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml


def offline(model: dict[str, Any], path: str) -> None:
    """Give bmt and kgx what they would fetch when imported."""
    import bmt
    from linkml_runtime.utils.schemaview import SchemaView

    prefixes = set(model["prefixes"])
    for row in (*model["classes"].values(), *model["slots"].values()):
        prefixes.update((row or {}).get("id_prefixes") or [])

    def local(self: Any, *_: object, **__: object) -> None:
        self.view = SchemaView(path)
        self.pmap = {"predicate mappings": []}

    bmt.Toolkit.__init__ = local
    from kgx import config

    config.get_config()
    config.jsonld_context_map["biolink"] = {name: f"https://x.invalid/{name}/" for name in prefixes}


def main(folder: Path) -> int:
    path = str(files("biolink_model").joinpath("schema").joinpath("biolink_model.yaml"))
    text = Path(path).read_text(encoding="utf-8")
    model = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    offline(model, path)
    from kgx.validator import Validator

    validator = Validator(verbose=False)
    counts = {}
    for name, check in (
        ("nodes", lambda row: validator.analyse_node(row["id"], row)),
        ("edges", lambda row: validator.analyse_edge(row["subject"], row["object"], None, row)),
    ):
        lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for line in lines:
            check(json.loads(line))
        counts[name] = len(lines)
    kinds: Counter[str] = Counter()
    for kind, messages in validator.get_errors(level="Error").items():
        for message, entities in messages.items():
            known = re.search(r"prefix +'([^']+)'", message)
            what = f"unknown prefix {known[1]}" if known else message
            kinds[f"{kind}: {what}"] += len(entities)
    print(f"Biolink Model {model['version']}: {counts}; errors by kind:")
    for kind, number in sorted(kinds.items()):
        print(f"  {number:>7,}  {kind}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
