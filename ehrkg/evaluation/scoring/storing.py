"""Scores into a finished build: beside those that are there, with the manifest, at once.

What was asked and answered lies in ``OUT/evaluations/NAME``: ``answers.jsonl`` (each answer as it
came) and Inspect's logs. They hold stems, so they stay with the build, and ``ehrkg forget`` cleans
them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.schema import SCORES, complete_scores
from ehrkg.evaluation.scoring.appraisals import BETWEEN, KEY, joined, with_appraisals
from ehrkg.evaluation.scoring.scores import SORTED_BY
from ehrkg.foundation import replacing
from ehrkg.foundation.growing import MANIFEST
from ehrkg.foundation.hashing import short_id
from ehrkg.foundation.storage import content_hash, file_hash, write_parquet
from ehrkg.foundation.workspace import read_final, read_manifest, write_json
from ehrkg.propose.models.consent import what_left

EVALUATIONS = "evaluations"
"""The folder in ``OUT`` for what models were asked and answered."""

ANSWERS = "answers.jsonl"
LOGS = "logs"
_FILE = "scores.parquet"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Evaluation:
    """One model in one setting, as it stands in the manifest.

    Attributes:
        model, setting: as in scores.parquet.
        remote: whether what it was asked left this machine.
        own: whether it is a function of the user's, which may have done anything with it.
        address: where it was asked; ``None`` for its provider's own place.
        consent: what the user had stated; ``None`` where none was needed.
        asked_as: what decides an answer beside the question and its prompt.
        prompts: by format, name and version of the files that gave the words.
        versions: of the packages that asked.
        missing: how many questions can't be put under the setting's perturbation, by reason.
    """

    model: str
    setting: str
    remote: bool
    own: bool
    address: str | None
    consent: Mapping[str, object] | None
    asked_as: Mapping[str, object]
    prompts: Mapping[str, str]
    versions: Mapping[str, str]
    missing: Mapping[str, int] = field(default_factory=dict)


def folder_of(out: Path, model: str) -> Path:
    """Where a build keeps what a model was asked and answered.

    >>> folder_of(Path("OUT"), "mockllm").as_posix()
    'OUT/evaluations/mockllm'
    >>> folder_of(Path("OUT"), "openai/m") == folder_of(Path("OUT"), "openai-m")
    False
    """
    plain = _NOT_IN_NAMES.sub("-", model).strip(".-") or "model"
    slug = plain if plain == model else f"{plain}-{short_id('', model)[:8]}"
    return out / EVALUATIONS / slug


def store(out: Path, scores: pa.Table, evaluations: Sequence[Evaluation]) -> None:
    """Put scores into a finished build's scores.parquet, and what was asked into its manifest.

    A row for the same model, setting and item is replaced. Where a model was asked otherwise in a
    setting before (another temperature, another prompt), all its rows of that setting are. Both
    files change together; cut off at any moment, the next command on the build finishes it.

    Args:
        out: the build's folder, held by this process.
        scores: the schema ``SCORES``.
        evaluations: one a (model, setting) of the scores.

    Raises:
        InputError: this is no finished build.
    """
    manifest = read_manifest(out)
    told: list[dict[str, Any]] = manifest.get("evaluations", [])
    mine = {(one.model, one.setting): asdict(one) for one in evaluations}
    before = {(one["model"], one["setting"]): one for one in told}
    both = mine.keys() & before.keys()
    otherwise = {key for key in both if not _alike(mine[key], before[key])}
    for key in both - otherwise:
        mine[key]["prompts"] = before[key]["prompts"] | mine[key]["prompts"]
    table = merged(read_final(out, "scores"), scores, otherwise)
    manifest["evaluations"] = [one for _, one in sorted((before | mine).items())]
    put_scores(out, manifest, table)


def put_scores(out: Path, manifest: dict[str, Any], scores: pa.Table) -> None:
    """Replace a build's scores and manifest, both together.

    Args:
        out: the build's folder, held by this process.
        manifest: the build's; what it says of scores.parquet and of what left the machine is
            brought up to date.
        scores: the schema ``SCORES``.
    """
    manifest["consent"] = what_left(manifest)
    new = replacing.Replacement(out)
    write_parquet(scores, new.path(_FILE))
    manifest["outputs"][_FILE] = {
        "rows": scores.num_rows,
        "sha256": file_hash(new.path(_FILE)),
        "content": content_hash(scores),
    }
    write_json(manifest, new.path(MANIFEST))
    new.commit()


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two evaluations asked alike, so that their rows can stand side by side."""
    shared = one["prompts"].keys() & other["prompts"].keys()
    return all(one[name] == other[name] for name in ("address", "asked_as")) and all(
        one["prompts"][form] == other["prompts"][form] for form in shared
    )


def merged(
    before: pa.Table, scores: pa.Table, otherwise: Collection[tuple[str, str]] = ()
) -> pa.Table:
    """The rows of before that no new row replaces, and the new ones, in their order.

    What a judge or BERTScore said of an answer stays with it where the same answer comes again.

    Args:
        before: the schema ``SCORES``, or that of an older version.
        scores: the schema ``SCORES``.
        otherwise: models and settings whose rows of before all go.
    """
    gone = pa.array([BETWEEN.join(key) for key in otherwise], pa.string())
    pairs = joined(before, "model", "setting")
    keys, fresh = (joined(one, *KEY).combine_chunks() for one in (before, scores))
    replaced = pc.or_(pc.is_in(pairs, value_set=gone), pc.is_in(keys, value_set=fresh))
    earlier = complete_scores(before)
    kept = earlier.filter(pc.invert(replaced))
    fresh_rows = with_appraisals(scores.select(SCORES.names), earlier)
    return pa.concat_tables([kept, fresh_rows]).sort_by(SORTED_BY)
