"""The last resort: names that are nearly alike, by words and by meaning."""

from __future__ import annotations

import pytest

from ehrkg.foundation.embedding import SentenceTransformerEmbedder
from ehrkg.mapping import NEAR, map_codes
from ehrkg.ontology import merge
from ehrkg.ontology.tables import build, knowledge

from .test_vocabularies import one_code
from .worlds import SOURCE, kb, links, mapped

NAMES = {
    "X:lobar": "lobar pneumonia of the lung",
    "X:chronic-bronchitis": "chronic bronchitis",
    "X:type1": "type 1 diabetes mellitus",
    "X:retinal": "retinal artery occlusion",
}


@pytest.fixture(scope="module")
def model() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder()


def known():
    rows = [(concept, name, "disease", "", SOURCE) for concept, name in NAMES.items()]
    return merge(kb(), knowledge(concepts=build("concepts", rows)))


@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("Retinal artery occlusion of eye", "X:retinal"),
        ("Lobar lung pneumonia disorder", "X:lobar"),
        ("Acute bronchitis", None),  # another thing than the chronic one
        ("Type 2 diabetes mellitus", None),
        ("Personal history of retinal artery occlusion", None),
        ("Fracture of femur", None),
    ],
)
def test_names_nearly_alike_link_and_telling_words_part(
    name: str, concept: str | None, model: SentenceTransformerEmbedder
) -> None:
    code = "SNOMED:1"
    table = one_code(code, "diagnosis", name)
    found = links(map_codes(table, known(), embedder=model), code)
    assert set(found) == ({concept} if concept else set())
    assert all(link.levels == NEAR for link in found.values())


def test_it_is_asked_last_and_only_with_an_embedder(model: SentenceTransformerEmbedder) -> None:
    code = "SNOMED:1"
    near = one_code(code, "diagnosis", "Retinal artery occlusion of eye")
    assert links(map_codes(near, known()), code) == {}
    same = one_code(code, "diagnosis", "Retinal artery occlusion")
    found = links(map_codes(same, known(), embedder=model), code)
    assert found["X:retinal"].method == "label"
    assert links(mapped("ICD10CM:I50.23"), "ICD10CM:I50.23").keys() == {"X:systolic-hf"}


def test_a_codes_candidate_does_not_depend_on_the_other_codes(
    model: SentenceTransformerEmbedder,
) -> None:
    import pyarrow as pa

    one = one_code("SNOMED:1", "diagnosis", "Retinal artery occlusion of eye")
    two = one_code("SNOMED:2", "diagnosis", "Lobar lung pneumonia disorder")
    alone = map_codes(one, known(), embedder=model).links.to_pylist()
    both = map_codes(pa.concat_tables([two, one]), known(), embedder=model).links.to_pylist()
    assert [row for row in both if row["code"] == "SNOMED:1"] == alone
