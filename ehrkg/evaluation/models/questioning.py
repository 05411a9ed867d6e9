"""Which prompts a benchmark gives in which settings: each question with its controls beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from ehrkg.benchmark import Benchmark
from ehrkg.benchmark.exports.rows import LETTERS
from ehrkg.evaluation.asking.few_shot import TRAIN, Examples, sentences_of
from ehrkg.evaluation.asking.prompting import FORMATS, applies, in_words
from ehrkg.evaluation.asking.questions import Question, in_setting, questions_of
from ehrkg.evaluation.models.prompted import Prompted
from ehrkg.evaluation.perturbations.questions import PerturbedQuestions
from ehrkg.evaluation.settings import PLAIN, Setting
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import hash64

LETTER_TOKENS, WORDS_TOKENS, REASONING_TOKENS = 16, 64, 1024
"""Tokens of an answer at most: a letter, a few words, a chain of thought before either."""


@dataclass(frozen=True)
class Put:
    """A question as it is put in a setting.

    Attributes:
        setting: the setting.
        question: the question under the setting's control.
        prompted: its words.
        prompt: name and version of the files that gave them.
    """

    setting: Setting
    question: Question
    prompted: Prompted
    prompt: str


def with_controls(
    settings: Sequence[Setting | str], *, controls: bool = True
) -> tuple[Setting, ...]:
    """Settings, each followed by its two controls, none twice.

    >>> [setting.name for setting in with_controls(["plain", "no_stem"])]
    ['plain', 'no_stem', 'other_stem']

    Raises:
        UsageError: a setting is unknown.
    """
    asked = [one if isinstance(one, Setting) else Setting.parse(one) for one in settings]
    every = [
        two
        for one in asked
        for two in ((one, *one.controls()) if controls and one.control == PLAIN else (one,))
    ]
    return tuple(dict.fromkeys(every))


class Questioning:
    """The questions of a benchmark in some settings.

    Args:
        benchmark: the questions.
        settings: in which they are put.
        limit: how many questions at most, drawn by task, format and number of options.
        seed: of that draw, of the swaps of stems, of perturbations and of the choice of examples.

    Attributes:
        items: the questions that are asked, as they are.
        perturbed: the same under the perturbations of the settings.

    Raises:
        UsageError: no question can be put in any of the settings.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        settings: Sequence[Setting],
        *,
        limit: int | None = None,
        seed: int = 7,
    ) -> None:
        by = ["task", "format", "n_options"]
        part = benchmark if limit is None else benchmark.sample(limit, by=by, seed=seed)
        self._benchmark, self._settings, self._seed = benchmark, settings, seed
        self.items: pa.Table = part.to_arrow()
        self.perturbed = PerturbedQuestions(part, settings, seed=seed)

    @cached_property
    def put(self) -> list[Put]:
        """Every question in every setting that suits it; a question's settings follow each other.

        Questions come in an order of their own hash, so that a part of them is a sample.
        """
        plain = [one for one in questions_of(self.items) if one.format in FORMATS]
        plain.sort(key=lambda one: (hash64(self._seed, "asked", one.item_id), one.item_id))
        rows = [self._in(setting, plain) for setting in self._settings]
        found = [one for together in zip(*rows, strict=True) for one in together if one is not None]
        if not found:
            names = ", ".join(setting.name for setting in self._settings)
            raise UsageError(
                f"none of {self.items.num_rows} questions can be put in {names}",
                todo="ask in another setting, or of a benchmark with other formats",
            )
        return found

    def _in(self, setting: Setting, plain: list[Question]) -> list[Put | None]:
        shown = self.perturbed.of(setting, plain)
        asked = {one.item_id: one for one in in_setting(shown, setting.control, seed=self._seed)}
        found = (asked.get(one.item_id) for one in plain)
        return [
            self._put(setting, one) if one is not None and applies(one.format, setting) else None
            for one in found
        ]

    def _put(self, setting: Setting, question: Question) -> Put:
        examples = self._examples.of(question, setting.shots) if setting.shots else ()
        evidence = self._evidence.get(question.relation_id, ()) if setting.evidence else ()
        words = in_words(question, setting, examples=examples, evidence=evidence)
        prompted = Prompted(
            setting.name,
            question.item_id,
            words.system,
            words.text,
            words.templates,
            words.choices,
            ", ".join(LETTERS[at] for at in question.right) or question.answers[0],
        )
        return Put(setting, question, prompted, words.prompt)

    @cached_property
    def _examples(self) -> Examples:
        return Examples(
            questions_of(self._benchmark.to_arrow()), seed=self._seed, further=self._cut_away()
        )

    def _cut_away(self) -> Iterator[Question]:
        """Training questions of the whole, for a cut that holds too few: of a test split, say."""
        if self._benchmark.whole is not self._benchmark:
            yield from questions_of(self._benchmark.whole.filter(split=TRAIN).to_arrow())

    @cached_property
    def _evidence(self) -> Mapping[str, Sequence[str]]:
        table = self._benchmark.beside("evidence")
        if table is None:
            raise UsageError(
                "this benchmark has no evidence beside it",
                todo="open the folder of its build: Benchmark.open(OUT)",
            )
        return sentences_of(table, self.items["relation_id"].unique().to_pylist())

    def tokens(self, most: int | None) -> dict[str, int]:
        """Tokens of an answer at most, by setting.

        Args:
            most: what the caller said; what a setting needs for ``None``.
        """
        return {
            setting.name: most
            if most is not None
            else max(self._needs(setting), default=LETTER_TOKENS)
            for setting in self._settings
        }

    def _needs(self, setting: Setting) -> Iterator[int]:
        for form in self.items["format"].unique().to_pylist():
            if setting.reasoning:
                yield REASONING_TOKENS
            else:
                yield WORDS_TOKENS if form == "oeq" else LETTER_TOKENS


def whole_only(put: Sequence[Put], answered: int) -> list[Put]:
    """Of questions of which a budget paid for the first ones, those that have all their settings.

    Args:
        put: all of them, a question's settings following each other.
        answered: how many were answered.
    """
    if answered >= len(put):
        return list(put)
    cut = put[answered].question.item_id
    return [one for one in put[:answered] if one.question.item_id != cut]
