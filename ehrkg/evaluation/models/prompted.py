"""What a model is asked, as one value: its text, and what it shows of whom."""

from __future__ import annotations

from dataclasses import dataclass

from ehrkg.foundation.hashing import short_id


@dataclass(frozen=True)
class Prompted:
    """One question to a model, in words.

    Attributes:
        setting: the name of the setting it is asked in.
        item_id: of the question it is asked for.
        system: what the model is told it is for; "" for nothing.
        text: what it is asked.
        templates: every template whose stem stands in it, its own, another patient's or an
            example's: whoever is forgotten later is found by them.
        choices: the endings that are weighed where likelihoods are wanted; else empty.
        right: the right answer, for those who look at Inspect's logs.
    """

    setting: str
    item_id: str
    system: str
    text: str
    templates: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    right: str = ""

    def key(self, model: str) -> str:
        """Under which its answer is recorded: by what is asked and who is, not for which question.

        >>> asked = Prompted("plain", "i1", "", "Which?")
        >>> asked.key("m") == Prompted("no_stem", "i2", "", "Which?").key("m") != asked.key("n")
        True
        """
        return short_id("a", model, self.system, self.text, self.choices)
