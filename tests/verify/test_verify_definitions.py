"""Sentences that are about both ends, retrieved, kept on disk, and never enough alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tiny
import tiny_models

from ehrkg.foundation import embedding_models
from ehrkg.foundation.embedding import Embedder, Vectors, embed, for_claims, model_name
from ehrkg.foundation.embedding_models import EmbeddingModel
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import hash64
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify import Policy, SentenceTransformerEmbedder, verify
from ehrkg.verify.index import SentenceIndex, recall_of

DEFINED = [
    (
        "D:furosemide",
        "furosemide",
        "drug",
        "A loop diuretic used in heart failure and other states of fluid overload. "
        "It must be avoided in anuria. It is well absorbed.",
    ),
    ("M:hf", "heart failure", "disease", "The heart pumps too little blood for the body's needs."),
    ("M:shf", "systolic heart failure", "disease", ""),
    ("M:anuria", "anuria", "finding", "No urine is formed."),
    ("M:overload", "fluid overload", "finding", ""),
]
CLAIMS = tiny.candidates(
    [
        tiny.candidate("D:furosemide", "TREATS", tail)
        for tail in ("M:hf", "M:shf", "M:anuria", "M:overload")
    ]
)
LINKS = tiny.same([row[0] for row in DEFINED])


def world(*edges: tuple[object, ...]) -> Knowledge:
    """The definitions above with some edges."""
    return tiny.knowledge(
        [tiny.edge("M:shf", "SUBCLASS_OF", "M:hf"), *edges], DEFINED, [("M:hf", "cardiac failure")]
    )


STATED = tuple(tiny.edge("D:furosemide", "TREATS", tail) for tail in ("M:hf", "M:anuria"))


class Counting:
    """Another embedder: words hashed into 32 dimensions; counts the texts it was given."""

    name, dimension = "hashed-words", 32

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: list[str]) -> Vectors:
        """Each word adds one to its place."""
        self.seen += texts
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, hash64(word) % self.dimension] += 1
        return vectors


@pytest.fixture(scope="session")
def model() -> SentenceTransformerEmbedder:
    """The packaged model, loaded once."""
    return SentenceTransformerEmbedder()


def test_a_sentence_about_both_ends_is_kept_with_its_source(
    model: SentenceTransformerEmbedder,
) -> None:
    found = verify(CLAIMS, LINKS, world(*STATED), embedder=model)
    relation = {row["tail"]: row for row in found.relations.to_pylist()}
    sentences = [row for row in found.evidence.to_pylist() if row["kind"] == "definition"]
    told = {(row["relation"], row["polarity"]): row["text"] for row in sentences}
    assert told[relation["M:hf"]["id"], "supports"] == (
        "furosemide: A loop diuretic used in heart failure and other states of fluid overload."
    )
    assert all(row["source"] == "infores:one" and row["weight"] >= 0.45 for row in sentences)
    assert relation["M:hf"]["n_definition"] == 1
    assert 0 < relation["M:hf"]["score_definition"] <= 0.1


def test_a_sentence_that_may_deny_the_claim_is_neutral(model: SentenceTransformerEmbedder) -> None:
    found = verify(CLAIMS, LINKS, world(*STATED), embedder=model)
    row = next(r for r in found.relations.to_pylist() if r["tail"] == "M:anuria")
    texts = {
        e["text"]: e["polarity"]
        for e in found.evidence.to_pylist()
        if e["relation"] == row["id"] and e["kind"] == "definition"
    }
    assert texts == {"furosemide: It must be avoided in anuria.": "neutral"}
    assert (row["n_definition"], row["score_definition"]) == (0, 0.0)


def test_definitions_alone_never_support() -> None:
    generous = Policy(definition_bonus=1.0, definition_similarity=0.0)
    for knowledge in (
        world(),
        world(
            tiny.edge("M:hf", "CAUSES", "M:overload"), tiny.edge("D:furosemide", "TREATS", "M:hf")
        ),
    ):
        found = verify(CLAIMS, LINKS, knowledge, policy=generous, embedder=Counting())
        row = next(r for r in found.relations.to_pylist() if r["tail"] == "M:overload")
        assert row["verdict"] == "unsupported"


def test_a_sentence_about_one_end_only_is_never_kept() -> None:
    claims = tiny.candidates([tiny.candidate("D:furosemide", "TREATS", "M:overload")])
    knowledge = tiny.knowledge(
        [tiny.edge("D:furosemide", "TREATS", "M:overload")],
        [
            ("D:furosemide", "furosemide", "drug", "Furosemide treats. Furosemide is a diuretic."),
            ("M:overload", "fluid overload", "finding", "Fluid overload is treated."),
        ],
    )
    keen = Policy(definition_similarity=0.0)
    found = verify(claims, LINKS, knowledge, policy=keen, embedder=Counting())
    assert found.relations["n_definition"].to_pylist() == [0]
    assert set(found.evidence["kind"].to_pylist()) == {"path"}


def test_the_model_is_not_asked_without_need() -> None:
    """No claim with a path, or none that a sentence is about: nothing is embedded."""
    embedder = Counting()
    verify(CLAIMS, LINKS, world(), embedder=embedder)
    assert embedder.seen == []


def test_what_was_embedded_is_reused_from_disk(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    before = verify(CLAIMS, LINKS, world(*STATED), embedder=first, cache=tmp_path)
    after = verify(CLAIMS, LINKS, world(*STATED), embedder=second, cache=tmp_path)
    assert first.seen
    assert second.seen == []
    assert before.relations.equals(after.relations)
    assert before.evidence.equals(after.evidence)
    without = verify(CLAIMS, LINKS, world(*STATED), embedder=Counting())
    assert without.evidence.equals(after.evidence)


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty"])
def test_a_damaged_cache_is_made_again(tmp_path: Path, damage: str) -> None:
    whole = verify(CLAIMS, LINKS, world(*STATED), embedder=Counting(), cache=tmp_path)
    for file in sorted(tmp_path.iterdir()):
        content = bytearray(file.read_bytes())
        if damage == "flip":
            content[len(content) // 2] ^= 0xFF
        file.write_bytes(
            {"flip": bytes(content), "truncate": bytes(content[:-5]), "empty": b""}[damage]
        )
    embedder = Counting()
    again = verify(CLAIMS, LINKS, world(*STATED), embedder=embedder, cache=tmp_path)
    assert embedder.seen
    assert again.evidence.equals(whole.evidence)
    quiet = Counting()
    verify(CLAIMS, LINKS, world(*STATED), embedder=quiet, cache=tmp_path)
    assert quiet.seen == []


class Wider(Counting):
    """The same name, another dimension."""

    dimension = 48


def test_vectors_of_another_dimension_are_never_mixed(tmp_path: Path) -> None:
    sentences = ["one sentence", "another sentence"]
    narrow = SentenceIndex(sentences, Counting(), tmp_path)
    wide = SentenceIndex(sentences, Wider(), tmp_path)
    assert len(narrow) == len(wide) == 2
    with pytest.raises(UsageError, match="48 dimensions, the index 32"):
        narrow.search(embed(["claim"], Wider()), 1)


def test_an_index_of_other_sentences_is_built_again(tmp_path: Path) -> None:
    sentences = ["one sentence", "another sentence"]
    SentenceIndex(sentences, Counting(), tmp_path)
    (note,) = tmp_path.glob("*.json")
    right = note.read_text()
    note.write_text(json.dumps(json.loads(right) | {"texts": "of something else"}))
    index = SentenceIndex(sentences, Counting(), tmp_path)
    assert note.read_text() == right
    assert index.search(embed(["another sentence"], Counting()), 1).tolist() == [[1]]


class Lying(Counting):
    """Says 32 and gives 31."""

    def encode(self, texts: list[str]) -> Vectors:
        """One column short."""
        return super().encode(texts)[:, 1:]


def test_an_embedder_that_gives_another_dimension_is_refused() -> None:
    with pytest.raises(UsageError, match="its `dimension` must be that of its vectors"):
        embed(["text"], Lying())


def test_vectors_do_not_depend_on_the_order_of_texts_nor_on_what_else_there_is(
    model: SentenceTransformerEmbedder,
) -> None:
    import torch

    texts = [f"sentence {i} on heart failure" + " and more" * (i % 7) for i in range(20)]
    forward = embed(texts, model)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    backward = embed(texts[::-1], model)[::-1]
    assert torch.get_num_threads() == 1
    torch.set_num_threads(threads)
    assert np.array_equal(forward, backward)


def test_a_model_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="can't be loaded"):
        SentenceTransformerEmbedder(str(tmp_path))


def test_both_embedders_fit_the_protocol(model: SentenceTransformerEmbedder) -> None:
    assert isinstance(model, Embedder)
    assert isinstance(Counting(), Embedder)
    assert model.dimension == 384


def test_a_model_with_other_weights_has_another_name(tmp_path: Path) -> None:
    """Even where names and sizes of its files stay: vectors of two models must never meet."""
    names = set()
    for weights in (b"one", b"two"):
        (tmp_path / "own").mkdir(exist_ok=True)
        (tmp_path / "own" / "model.safetensors").write_bytes(weights)
        names.add(model_name(str(tmp_path / "own")))
    assert len(names) == 2
    assert {name.partition("-")[0] for name in names} == {"own"}


@pytest.fixture(scope="module")
def many() -> list[str]:
    """Sentences that are alike in groups, as definitions are."""
    kinds = ("loop", "thiazide", "osmotic", "acute", "chronic", "renal", "hepatic")
    return [
        f"{kinds[i % 7]} {kinds[i // 7 % 7]} agent number {i % 97} of {i // 97} used in {i % 13}"
        for i in range(3000)
    ]


def test_a_large_index_is_approximate_with_a_measured_recall(
    tmp_path: Path, many: list[str]
) -> None:
    exact = SentenceIndex(many, Counting(), exact_up_to=len(many))
    claims = embed([f"agent number {i} used in 5" for i in range(90)], Counting())
    quick = SentenceIndex(many, Counting(), tmp_path, exact_up_to=100, probes=claims)
    assert (exact.kind, exact.recall) == ("exact", 1.0)
    assert quick.kind in ("ivf", "hnsw")
    assert quick.recall >= 0.97
    near = [
        index.similarity(np.repeat(claims, 10, axis=0), index.search(claims, 10).ravel())
        for index in (quick, exact)
    ]
    assert recall_of(*(rows.reshape(-1, 10) for rows in near)) >= 0.95


def test_an_approximate_index_is_kept_with_what_was_measured(
    tmp_path: Path, many: list[str]
) -> None:
    built = SentenceIndex(many, Counting(), tmp_path, exact_up_to=100)
    embedder = Counting()
    kept = SentenceIndex(many, embedder, tmp_path, exact_up_to=100)
    assert embedder.seen == []
    assert (kept.kind, kept.recall) == (built.kind, built.recall)
    claims = embed(["agent number 5 used in 5", "acute renal agent"], Counting())
    assert np.array_equal(kept.search(claims, 10), built.search(claims, 10))
    (file,) = tmp_path.glob("*-approximate.faiss")
    file.write_bytes(file.read_bytes()[:-9])
    again = SentenceIndex(many, Counting(), tmp_path, exact_up_to=100)
    assert np.array_equal(again.search(claims, 10), built.search(claims, 10))


@pytest.mark.parametrize(
    ("place", "said"), [("./no/such", "no folder"), ("BGE", "can't be loaded")]
)
def test_a_name_that_can_not_be_loaded_lists_the_known(
    place: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UsageError, match=said) as caught:
        SentenceTransformerEmbedder(place)
    assert "MiniLM, SapBERT, MedCPT, BGE" in caught.value.todo


def test_any_folder_of_a_transformers_model_embeds(tmp_path: Path) -> None:
    one = SentenceTransformerEmbedder(str(tiny_models.encoder(tmp_path / "one", 16)))
    other = SentenceTransformerEmbedder(str(tiny_models.encoder(tmp_path / "other", 32)))
    assert (one.dimension, other.dimension) == (16, 32)
    vectors = embed(["heart failure", "anuria"], one, tmp_path / "cache")
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    found = verify(CLAIMS, LINKS, world(*STATED), embedder=one, cache=tmp_path / "cache")
    again = verify(CLAIMS, LINKS, world(*STATED), embedder=other, cache=tmp_path / "cache")
    assert found.relations["verdict"].equals(again.relations["verdict"])


def test_a_model_of_two_sides_embeds_claims_by_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As MedCPT's articles and queries, and as BGE's instruction before a query."""
    article = tiny_models.encoder(tmp_path / "article")
    query = tiny_models.encoder(tmp_path / "query")
    rows = {
        "two": EmbeddingModel("two", str(article), claims=str(query), pooling="cls"),
        "asked": EmbeddingModel("asked", str(article), claim_prefix="find: "),
    }
    monkeypatch.setattr(embedding_models, "known_models", lambda: rows)
    two, asked = SentenceTransformerEmbedder("two"), SentenceTransformerEmbedder("asked")
    assert for_claims(two).name != two.name
    assert for_claims(two).encode(["a"]).shape == (1, 16)
    assert np.array_equal(for_claims(asked).encode(["heart"]), asked.encode(["find: heart"]))
    assert for_claims(SentenceTransformerEmbedder(str(article))).name.startswith("article-")
