"""Verifying: candidate relations and knowledge in; verdicts, scores and evidence out.

>>> import pyarrow as pa
>>> from ehrkg import ontology, verify
>>> known = ontology.shipped()
>>> claims = {"head": ["furosemide", "aspirin"], "predicate": ["TREATS"] * 2}
>>> claims["tail"] = ["heart failure", "a thing nobody knows"]
>>> pairs = verify.resolve_pairs(pa.table(claims), known)  # Pairs: candidates and links
>>> policy = verify.Policy(definition_bonus=0.0)  # by paths alone, without an Embedder
>>> verified = verify.verify(pairs.candidates, pairs.links, known, policy=policy)
>>> sorted(verified.to_pandas()["verdict"])  # Verified: relations and their evidence
['supported', 'unsupported']
>>> set(verified.evidence["kind"].to_pylist())
{'path'}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ehrkg.foundation.lazy import lazy_names
from ehrkg.verify.schema import EVIDENCE, RELATIONS, Verified

if TYPE_CHECKING:
    from ehrkg.foundation.embedding import Embedder, SentenceTransformerEmbedder
    from ehrkg.verify.judge import Judge, ModelJudge, NliJudge
    from ehrkg.verify.pairs import Pairs, resolve_pairs
    from ehrkg.verify.policy import Policy
    from ehrkg.verify.verifier import verify
    from ehrkg.verify.worth import by_proposer, found_beyond_cooccurrence

_HOMES = {
    "Embedder": "ehrkg.foundation.embedding",
    "SentenceTransformerEmbedder": "ehrkg.foundation.embedding",
    "Judge": "judge",
    "ModelJudge": "judge",
    "NliJudge": "judge",
    "Pairs": "pairs",
    "Policy": "policy",
    "by_proposer": "worth",
    "found_beyond_cooccurrence": "worth",
    "resolve_pairs": "pairs",
    "verify": "verifier",
}

__all__ = [
    "EVIDENCE",
    "RELATIONS",
    "Embedder",
    "Judge",
    "ModelJudge",
    "NliJudge",
    "Pairs",
    "Policy",
    "SentenceTransformerEmbedder",
    "Verified",
    "by_proposer",
    "found_beyond_cooccurrence",
    "resolve_pairs",
    "verify",
]

__getattr__ = lazy_names(__name__, _HOMES)
