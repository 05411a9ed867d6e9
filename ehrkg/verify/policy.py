"""The policy: every threshold and factor by which evidence becomes a verdict."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ehrkg.foundation.errors import UsageError
from ehrkg.ontology.sources import DEFAULT_RELIABILITY
from ehrkg.verify.meta_paths import MetaPath, shipped_meta_paths


@dataclass(frozen=True)
class Policy:
    """How evidence becomes a score and a verdict; the default is strict.

    Attributes:
        support_at: noisy-or of sufficient paths from which a claim is `supported`. 0.5: more likely
            stated rightly than not, so one direct statement of a source of ordinary reliability
            does, one inherited over two levels needs a second origin.
        contradict_at: the same for what speaks against.
        near_levels: links found at most so many levels up carry verdicts.
        broad_levels: links further up than this are not used at all.
        broad_factor: factor of a path that rests on a broad link; it then never carries a verdict.
        unsound_link: factor where a link to a broader concept leads the unsound way (the tail of
            CAUSES: what causes the genus need not cause this kind).
        default_reliability: of a source that ehrkg.ontology.sources does not list; its own default,
            at which one statement alone stays below `support_at`.
        hub_from, hub_to, hub_floor: an edge whose subject or object has more than `hub_from` edges
            of that predicate is discounted, logarithmically down to `hub_floor` at `hub_to`.
        overrule_origins: so many origins that state the claim itself outweigh what `yields_to:
            origins`, a contraindication that is only inherited (of a drug's class, or of the
            condition's genus).
        definition_bonus: most that definitions add to the score; 0 leaves them out.
        definition_similarity: least cosine of claim and sentence.
        definition_top: sentences retrieved for a claim.
        coding_rule_bonus: most that coding instructions add to the score.
        excludes1_weight: of a mutual exclusion between aetiological variants of one parent.
        prior: share of true claims among those judged, at which the scores of calibrated predicates
            are probabilities; the one of calibration.yaml by default. It moves scores, no verdict.
        meta_paths: what counts as evidence; the shipped rows.

    >>> Policy(support_at=1.5)
    Traceback (most recent call last):
    ehrkg.foundation.errors.UsageError: support_at is 1.5; it must lie in [0, 1]
    """

    support_at: float = 0.5
    contradict_at: float = 0.5
    near_levels: int = 1
    broad_levels: int = 3
    broad_factor: float = 0.4
    unsound_link: float = 0.85
    default_reliability: float = DEFAULT_RELIABILITY
    hub_from: int = 100
    hub_to: int = 1000
    hub_floor: float = 0.85
    overrule_origins: int = 2
    definition_bonus: float = 0.1
    definition_similarity: float = 0.45
    definition_top: int = 20
    coding_rule_bonus: float = 0.05
    excludes1_weight: float = 0.6
    prior: float | None = None
    meta_paths: tuple[MetaPath, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float) and not 0.0 <= value <= 1.0:
                raise UsageError(f"{field.name} is {value}; it must lie in [0, 1]")
        if not 0 < self.hub_from < self.hub_to:
            raise UsageError("hub_from must be positive and less than hub_to")
        if not self.meta_paths:
            object.__setattr__(self, "meta_paths", shipped_meta_paths())
