"""What a user must have said before anything about patients leaves the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ehrkg.foundation.errors import UsageError

SCOPES = ("pair", "visit")
"""``pair``: names of two codes that occur in eleven patients or more. ``visit``: what a single
visit holds. They are different consents; neither implies the other."""

LEAST_PATIENTS = 11
"""Patients behind a pair that may be sent (no count under 11 leaves: CMS cell-size policy)."""


@dataclass(frozen=True)
class Consent:
    """A user's word that data of a hospital may be sent to a remote model.

    Args:
        scope: ``pair`` or ``visit``.
        no_retention: the service keeps nothing of what it is sent.
        no_training: it trains on nothing of it.
        no_human_review: no person there reads it. PhysioNet asks for these three before
            credentialed data meet an online model, so MIMIC formats need all of them.
        may_be_retained: the second word that a batch interface needs: it keeps what it is sent and
            what it answers for weeks, so that both can be fetched later. It can't be said together
            with ``no_retention``.

    Raises:
        UsageError: there is no such scope, or the two words on retention contradict each other.

    >>> Consent("pair", no_retention=True, no_training=True, no_human_review=True).scope
    'pair'
    """

    scope: str
    no_retention: bool = False
    no_training: bool = False
    no_human_review: bool = False
    may_be_retained: bool = False

    def __post_init__(self) -> None:
        if self.scope not in SCOPES:
            raise UsageError(f"no such scope: {self.scope!r}", todo=f"use {' or '.join(SCOPES)}")
        if self.no_retention and self.may_be_retained:
            raise UsageError(
                "the consent says both that nothing is retained and that it may be",
                todo="leave out one of no_retention and may_be_retained",
            )

    def settings(self) -> dict[str, object]:
        """As it stands in the manifest."""
        return asdict(self)


def check_consent(
    consent: Consent | None, *, model: str, scope: str, hospital_format: str, retains: bool = False
) -> None:
    """Refuse to ask a remote model what its user has not agreed to.

    Args:
        consent: what the user said.
        model: the remote model's name, for the message.
        scope: what the questions hold.
        hospital_format: the reader's name; MIMIC formats need all three promises.
        retains: whether the model is asked through an interface that keeps what it is sent; it then
            needs ``may_be_retained``, and is closed to MIMIC formats.

    Raises:
        UsageError: consent is lacking, is for another scope, or lacks a promise or a word.

    >>> check_consent(None, model="anthropic/x", scope="pair", hospital_format="omop")
    Traceback (most recent call last):
    ehrkg.foundation.errors.UsageError: anthropic/x is remote, and you have not agreed ...
      do: ...
    """
    if consent is None or consent.scope != scope:
        raise UsageError(
            f"{model} is remote, and you have not agreed that it may be sent "
            + ("the names of pairs of codes" if scope == "pair" else "what single visits hold"),
            todo=f"give consent=Consent({scope!r}, ...) for this data set, or use a local model",
        )
    if retains and hospital_format.startswith("mimic"):
        raise UsageError(
            f"MIMIC's terms ask that nothing is retained, and a batch of {model} is",
            todo="ask question by question, of a service that keeps nothing",
        )
    if retains and not consent.may_be_retained:
        raise UsageError(
            f"{model} keeps what a batch holds, and you have not agreed to that",
            todo="give consent=Consent(..., may_be_retained=True) where this data may be kept "
            "there, or ask question by question",
        )
    promises = ("no_retention", "no_training", "no_human_review")
    lacking = [name for name in promises if not getattr(consent, name)]
    if hospital_format.startswith("mimic") and lacking:
        raise UsageError(
            f"MIMIC's terms ask for more before {model} may be sent anything of it: the consent "
            f"does not state {', '.join(lacking)}",
            todo="state them only where the service has promised them in writing",
        )


def sent(model: str, scope: str, agreed: Mapping[str, Any] | None) -> str:
    """What a remote model was sent, and what its user stated, in words.

    >>> sent("anthropic/m", "visit", Consent("visit", no_retention=True).settings())
    'anthropic/m was sent what single visits hold; its user stated: no retention'
    """
    what = "names of pairs of codes" if scope == "pair" else "what single visits hold"
    stated = [name.replace("_", " ") for name, yes in sorted((agreed or {}).items()) if yes is True]
    return f"{model} was sent {what}; its user stated: {', '.join(stated) or 'nothing'}"


def what_left(manifest: Mapping[str, Any]) -> str:
    """What left this machine, in words.

    Args:
        manifest: of a build, or what one is made of: its settings, and its evaluations and
            judges if it has any.

    >>> what_left({"settings": {"graph": None, "proposer": {"proposer": "cooccurrence"}}})
    'no remote model was used; nothing left this machine'
    >>> agreed = {"scope": "pair", "no_retention": True}
    >>> model = {"proposer": "anthropic/m", "remote": True, "per": "pair", "consent": agreed}
    >>> what_left({"settings": {"graph": None, "proposer": model}})
    'anthropic/m was sent names of pairs of codes; its user stated: no retention'
    """
    settings = manifest["settings"]
    said = settings["proposer"]
    answering = [*manifest.get("evaluations", ()), *manifest.get("judges", ())]
    asked = [
        sent(one["proposer"], one["per"], one["consent"])
        for one in said.get("union", [said])
        if one.get("remote")
    ]
    asked += [sent(one["model"], "visit", one["consent"]) for one in answering if one["remote"]]
    own = dict.fromkeys(one["model"] for one in answering if one["own"])
    told = list(dict.fromkeys(asked)) or ["no remote model was used"]
    told += [f"{name} is the user's own function, and what it sends is not known" for name in own]
    if settings["graph"]:
        told.append(f"the graph was written to the server {settings['graph']}")
    elif not asked and not own:
        told.append("nothing left this machine")
    return "; ".join(told)
