"""How a question is put and its answer read: one value, with a name that stands in the scores."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ehrkg.foundation.errors import UsageError

PLAIN, NO_STEM, OTHER_STEM = "plain", "no_stem", "other_stem"
CONTROLS = (PLAIN, NO_STEM, OTHER_STEM)
"""The plain question, and its two controls: options alone, and another patient's stem."""

LETTER, LIKELIHOOD = "letter", "likelihood"
READINGS = (LETTER, LIKELIHOOD)
"""An answer is generated and read, or it is the option that the model finds likeliest."""

_PERTURBATION = re.compile(r"[a-z0-9][a-z0-9_:=.-]*")
_SHOTS = re.compile(r"few_shot([1-9][0-9]*)")
_PERTURBED, _REASONING, _EVIDENCE = "perturbed:", "chain_of_thought", "with_evidence"


@dataclass(frozen=True)
class Setting:
    """One way of asking.

    Args:
        control: ``plain``; ``no_stem`` (the options alone) or ``other_stem`` (another patient's
            stem), which show what an accuracy is worth.
        reading: ``letter``: the answer is generated and read; ``likelihood``: the likeliest option.
        shots: answered examples before the question; they share neither relation, answer nor
            patient with it, and are of the training split: of the benchmark that is asked, or
            where that was cut and holds too few, of the whole that it was cut from.
        reasoning: whether the model is asked to think aloud before it answers.
        evidence: whether the graph's evidence stands in the prompt, named as coming from the
            source of the key.
        perturbation: a name of ``ehrkg.evaluation.perturbations``; "" for the question as it is.

    Raises:
        UsageError: a part is unknown, or parts contradict each other.

    >>> Setting().name
    'plain'
    >>> Setting(reading="likelihood", shots=5, control="no_stem").name
    'likelihood+few_shot5+no_stem'
    >>> Setting.parse("perturbed:option_order+chain_of_thought")
    Setting(control='plain', reading='letter', shots=0, reasoning=True, evidence=False, \
perturbation='option_order')
    >>> [setting.name for setting in Setting(shots=5).controls()]
    ['few_shot5+no_stem', 'few_shot5+other_stem']
    """

    control: str = PLAIN
    reading: str = LETTER
    shots: int = 0
    reasoning: bool = False
    evidence: bool = False
    perturbation: str = ""

    def __post_init__(self) -> None:
        if self.control not in CONTROLS:
            raise unknown_setting(self.control)
        if self.reading not in READINGS:
            raise UsageError(
                f"no such reading of an answer: {self.reading}",
                todo=f"use one of {', '.join(READINGS)}",
            )
        if self.shots < 0:
            raise UsageError(
                f"can't give {self.shots} examples", todo="give 0, or a number of examples"
            )
        if self.reasoning and self.reading == LIKELIHOOD:
            raise UsageError(
                "an option's likelihood leaves no room for a chain of thought",
                todo="read the answer by letter, or ask without a chain of thought",
            )
        if self.perturbation and not _PERTURBATION.fullmatch(self.perturbation):
            raise UsageError(
                f"not the name of a perturbation: {self.perturbation!r}",
                todo="use lower-case letters, digits and _",
            )

    @property
    def name(self) -> str:
        """As it stands in ``scores.setting``: the parts that differ from the default."""
        parts = (
            f"{_PERTURBED}{self.perturbation}" if self.perturbation else "",
            self.reading if self.reading != LETTER else "",
            f"few_shot{self.shots}" if self.shots else "",
            _REASONING if self.reasoning else "",
            _EVIDENCE if self.evidence else "",
            self.control if self.control != PLAIN else "",
        )
        return "+".join(part for part in parts if part) or PLAIN

    @classmethod
    def parse(cls, name: str) -> Setting:
        """The setting of a name; the inverse of ``name``.

        Raises:
            UsageError: it is the name of no setting.
        """
        found = cls()
        for part in name.split("+"):
            if part.startswith(_PERTURBED):
                found = replace(found, perturbation=part.removeprefix(_PERTURBED))
            elif part == LIKELIHOOD:
                found = replace(found, reading=LIKELIHOOD)
            elif shots := _SHOTS.fullmatch(part):
                found = replace(found, shots=int(shots[1]))
            elif part == _REASONING:
                found = replace(found, reasoning=True)
            elif part == _EVIDENCE:
                found = replace(found, evidence=True)
            elif part in CONTROLS:
                found = replace(found, control=part)
            else:
                raise unknown_setting(name)
        if found.name != name:
            raise UsageError(f"not as a setting is written: {name}", todo=f"write {found.name}")
        return found

    def controls(self) -> tuple[Setting, Setting]:
        """The two controls beside this setting: asked and read in the same way."""
        return replace(self, control=NO_STEM), replace(self, control=OTHER_STEM)


def unknown_setting(name: str) -> UsageError:
    """The error for a setting that does not exist."""
    return UsageError(
        f"no such setting: {name}",
        todo=f"use {PLAIN}, or parts joined by +, in this order: {_PERTURBED}NAME, {LIKELIHOOD}, "
        f"few_shotN, {_REASONING}, {_EVIDENCE}, then one of {NO_STEM}, {OTHER_STEM}",
    )
