"""Questions of every format, made up, for tests of how they are put and answered."""

from __future__ import annotations

from typing import Any

from ehrkg.evaluation.asking.questions import Question

DRUGS = ("aspirin", "heparin", "insulin", "warfarin")


def question(number: int = 1, form: str = "mcq", **changes: Any) -> Question:
    """One question; ``right`` names the places of its right options, the third by default."""
    options = {"yesno": ("yes", "no"), "oeq": ()}.get(form, DRUGS)
    right = changes.pop("right", {"oeq": (), "multi": (0, 2), "yesno": (0,)}.get(form, (2,)))
    codes = (
        ("DRUGNAME:insulin",) * 2 if form == "yesno" else tuple(f"DRUGNAME:{o}" for o in options)
    )
    texts = tuple(options[at] for at in right) or ("insulin",)
    fields: dict[str, Any] = {
        "item_id": f"t{number}.{form}",
        "template_id": f"t{number}",
        "cluster": f"c{number}",
        "task": "treatment",
        "format": form,
        "n_options": len(options),
        "split": "test",
        "stem": f"Stem of patient {number}.",
        "stem_template": f"t{number}",
        "options": options,
        "option_codes": codes,
        "answer_index": right[0] if len(right) == 1 else -1,
        "answers": texts,
        "accepted_codes": ("DRUGNAME:insulin",),
        "relation_id": f"r{number}",
        "right": right,
    }
    return Question(**(fields | changes))
