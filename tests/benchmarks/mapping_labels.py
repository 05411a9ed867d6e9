"""Mondo's own mappings hidden, and predicted from names alone.

    python tests/benchmarks/mapping_labels.py ../shared/data [--most N]

For each vocabulary (ICD-10-CM, ICD-9-CM, MeSH, DOID) the codes of Mondo's exact matches (of its
cross-references, for ICD-9) are asked for by their names; what is known is the names of Mondo's
terms, with DOID's synonyms for those that a DOID is the same as (left out where DOID is asked for).
First names that are the same decide, then the candidate search by words and vectors. Prints
precision and recall as the threshold falls, with 95 % Wilson intervals at the one that is used.
Targets: precision 0.92 at recall 0.60. A prediction is right where Mondo maps the code to the very
term. MeSH's names are not among the open tables; DOID's cross-references name its headings.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Iterator
from math import sqrt
from pathlib import Path

from ehrkg import ontology
from ehrkg.foundation.embedding import SentenceTransformerEmbedder
from ehrkg.foundation.hashing import hash64
from ehrkg.mapping import candidates, index, labels
from ehrkg.mapping.index import Label
from ehrkg.mapping.names import key, read_yaml, same_names
from ehrkg.ontology.code_trees import node_of
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.tables import build, knowledge

FILES = {
    "ICD-10-CM": ("mondo_exactmatch_icd10cm.sssom.tsv",),
    "ICD-9-CM": ("mondo_hasdbxref_icd9.sssom.tsv", "mondo_hasdbxref_icd9cm.sssom.tsv"),
    "MeSH": ("mondo_exactmatch_mesh.sssom.tsv",),
    "DOID": ("mondo_exactmatch_doid.sssom.tsv",),
}
SURE = 1.0
"""The score of names that are the same."""


def rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of an SSSOM file."""
    with path.open(encoding="utf-8", newline="") as handle:
        yield from csv.DictReader(
            (line for line in handle if not line.startswith("#")), delimiter="\t"
        )


def wilson(hits: int, total: int) -> str:
    """A share with its 95 % Wilson interval."""
    if not total:
        return "-"
    z, share = 1.959964, hits / total
    centre = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * sqrt(share * (1 - share) / total + z * z / (4 * total**2)) / (1 + z * z / total)
    return f"{share:.3f} [{centre - half:.3f}, {centre + half:.3f}]"


class World:
    """Names of Mondo's terms, of DOID's, and what Mondo maps to what."""

    def __init__(self, data: Path) -> None:
        mondo = data / "mondo"
        self.names: dict[str, str] = {}
        for path in sorted(mondo.glob("*.sssom.tsv")):
            for row in rows(path):
                self.names[row["subject_id"]] = row["subject_label"]
        self.truth: dict[str, dict[str, set[str]]] = {}
        self.object_names: dict[str, str] = {}
        for vocabulary, files in FILES.items():
            found = self.truth.setdefault(vocabulary, {})
            for file in files:
                for row in rows(mondo / file):
                    code = normalise(row["object_id"])
                    found.setdefault(code, set()).add(row["subject_id"])
                    if row.get("object_label"):
                        self.object_names[code] = row["object_label"]
        obo = ontology.load(data / "hdo" / "doid-simple_2016-09-01.obo")
        self.doid_synonyms: dict[str, set[str]] = {}
        for concept, text, scope in zip(
            *(obo.synonyms[name].to_pylist() for name in ("concept", "text", "scope")), strict=True
        ):
            if scope == "exact":
                self.doid_synonyms.setdefault(concept, set()).add(text)
        named = dict(
            zip(obo.concepts["id"].to_pylist(), obo.concepts["name"].to_pylist(), strict=True)
        )
        self.doid_names = named
        mesh: dict[str, set[str]] = {}
        for concept, target in zip(
            obo.mappings["subject"].to_pylist(), obo.mappings["object"].to_pylist(), strict=True
        ):
            if target.startswith("MESH:"):
                mesh.setdefault(target, set()).add(named.get(concept, ""))
        self.mesh_names = {
            code: next(iter(found)) for code, found in mesh.items() if len(found) == 1
        }

    def title(self, vocabulary: str, code: str) -> str:
        """What a code is called in its own vocabulary."""
        if vocabulary == "MeSH":
            return self.mesh_names.get(code, "")
        if vocabulary == "DOID":
            return self.doid_names.get(code) or self.object_names.get(code, "")
        node = node_of(code)
        return (node.name if node else "") or self.object_names.get(code, "")

    def known(self, hidden: str) -> list[Label]:
        """Names of Mondo's terms; DOID's synonyms too, unless its mappings are hidden."""
        synonyms = []
        if hidden not in ("DOID", "MeSH"):  # the names of MeSH's headings are DOID's here
            for code, terms in self.truth["DOID"].items():
                texts = self.doid_synonyms.get(code, set()) | {self.doid_names.get(code, "")}
                for term in terms:
                    synonyms += [(term, text, "exact", "infores:doid") for text in texts if text]
        concepts = [
            (term, name, "disease", "", "infores:mondo") for term, name in self.names.items()
        ]
        whole = knowledge(
            concepts=build("concepts", concepts), synonyms=build("synonyms", synonyms)
        )
        self.index = index.build(whole)
        return index.labels(whole, self.index.kinds, frozenset(["disease"]))


def predict(
    world: World,
    vocabulary: str,
    codes: list[str],
    embedder: SentenceTransformerEmbedder,
    cache: Path,
) -> dict[str, tuple[str, float]]:
    """Code -> the term predicted and its score."""
    known = world.known(vocabulary)
    by_name = labels.by_name(known)
    names = candidates.Names(known, world.index)
    titles = {code: world.title(vocabulary, code) for code in codes}
    found: dict[str, tuple[str, float]] = {}
    for code, title in titles.items():
        for words in same_names(title):
            terms = {label.concept for label in by_name.get(words, ())}
            if len(terms) == 1:
                found.setdefault(code, (terms.pop(), SURE))
    rest = {code: title for code, title in titles.items() if code not in found and key(title)}
    for code, several in candidates.search(rest, names, embedder, cache).items():
        best = candidates.decided(several, accepted=0.0)
        if best is not None:
            found[code] = (best.concept, min(best.score, SURE - 0.0001))
    return found


def main() -> None:
    """Print a curve a vocabulary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--most", type=int, default=1500, help="codes a vocabulary, drawn by hash")
    parser.add_argument(
        "--cache", type=Path, default=Path(tempfile.gettempdir()) / "ehrkg-mapping-labels"
    )
    parser.add_argument("--show", type=int, default=0, help="wrong predictions to print")
    given = parser.parse_args()
    world, embedder = World(given.data), SentenceTransformerEmbedder()
    used = read_yaml("rules.yaml")["candidates"]["accepted"]
    for vocabulary, truth in world.truth.items():
        start = time.perf_counter()
        codes = [code for code in sorted(truth) if world.title(vocabulary, code)]
        codes = sorted(codes, key=lambda code: (hash64("labels", code), code))[: given.most]
        found = predict(world, vocabulary, codes, embedder, given.cache)
        print(f"\n{vocabulary}: {len(codes)} codes of {len(truth)}", end="")
        print(f", {time.perf_counter() - start:.0f} s")
        print("  threshold  predicted  precision  recall")
        for least in (SURE, 0.95, 0.9, 0.85, used, 0.8, 0.75, 0.7, 0.6, 0.5):
            taken = {code: term for code, (term, score) in found.items() if score >= least}
            right = sum(term in truth[code] for code, term in taken.items())
            marked = "  (used; target 0.92 at 0.60)" if least == used else ""
            precision = (
                wilson(right, len(taken)) if least == used else f"{right / max(len(taken), 1):.3f}"
            )
            recall = wilson(right, len(codes)) if least == used else f"{right / len(codes):.3f}"
            print(f"  {least:<9}  {len(taken):>9}  {precision:<9}  {recall}{marked}")
        wrong = [
            (score, world.title(vocabulary, code), world.names[term])
            for code, (term, score) in found.items()
            if term not in truth[code] and score >= used
        ]
        for score, title, name in sorted(wrong, reverse=True)[: given.show]:
            print(f"    {score:.3f} {title!r} is not {name!r}")


if __name__ == "__main__":
    main()
