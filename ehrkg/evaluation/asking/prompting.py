"""A question in a setting, put in words: what a model reads.

The words stand in files (``ehrkg/evaluation/asking/prompts``), one a format and a frame for all of
them. Everything here is a pure function of its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
import yaml

from ehrkg.benchmark.exports.rows import LETTERS
from ehrkg.evaluation.asking.questions import Question
from ehrkg.evaluation.settings import LIKELIHOOD, NO_STEM, Setting
from ehrkg.foundation.errors import UsageError

FORMATS = ("mcq", "yesno", "multi", "oeq")
"""Formats that have a prompt."""

CUE = "Answer:"
"""What a reply follows, where the model is not asked to think aloud first."""


@dataclass(frozen=True)
class Words:
    """A question in words.

    Attributes:
        system: what the model is told it is for; "" where likelihoods are taken.
        text: what it is asked.
        choices: the endings of the text that are weighed where likelihoods are taken; else empty.
        templates: every template whose stem stands in the text, sorted.
        prompt: name and version of the files that gave the words.
    """

    system: str
    text: str
    choices: tuple[str, ...]
    templates: tuple[str, ...]
    prompt: str

    @property
    def whole(self) -> str:
        """All of it as one text, for a model that takes no messages."""
        return f"{self.system}\n\n{self.text}" if self.system else self.text

    @property
    def messages(self) -> list[dict[str, str]]:
        """The same as chat messages."""
        said = [("system", self.system), ("user", self.text)]
        return [{"role": role, "content": words} for role, words in said if words]


def applies(form: str, setting: Setting) -> bool:
    """Whether a format can be asked in a setting.

    Likelihoods need one right option among a few; an open question without its stem asks nothing.

    >>> applies("mcq", Setting(reading="likelihood")), applies("oeq", Setting(control="no_stem"))
    (True, False)
    """
    if setting.reading == LIKELIHOOD and form not in ("mcq", "yesno"):
        return False
    return not (form == "oeq" and setting.control == NO_STEM)


def in_words(
    question: Question,
    setting: Setting,
    *,
    examples: Sequence[Question] = (),
    evidence: Sequence[str] = (),
) -> Words:
    """Put a question in words.

    Args:
        question: under the setting's control already (``in_setting``): its stem is shown as it is.
        setting: how it is asked.
        examples: what ``few_shot.examples_for`` chose; without their stems in the ``no_stem``
            control, so that options alone are shown throughout.
        evidence: sentences behind the question's relation (``few_shot`` has none of their own);
            shown where the setting says so.

    Raises:
        UsageError: the format can't be asked in this setting, or the number of examples is not the
            setting's.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation.asking.questions import questions_of
    >>> question = questions_of(example().filter(format="mcq").to_arrow())[0]
    >>> print(in_words(question, Setting()).text)  # doctest: +ELLIPSIS
    Reply with the letter of the right option and nothing else.
    <BLANKLINE>
    ...
    A. ...
    Answer:
    >>> in_words(question, Setting(reading="likelihood")).choices == question.options
    True
    """
    _check(question, setting, examples)
    form = _form(question.format)
    weighed = setting.reading == LIKELIHOOD
    part = "likelihood" if weighed else "question"
    shown = [
        {
            "question": form.fill(part, example, stem=_stem(example, setting)),
            "answer": _joined(example) if weighed else form.fill("answer", example),
        }
        for example in examples
    ]
    frame = _frame()
    text = frame.template.render(
        ask="" if weighed or setting.reasoning else form.words["ask"],
        evidence=list(evidence) if setting.evidence else [],
        examples=shown,
        question=form.fill(part, question, stem=question.stem),
        cue=form.words["reason"] if setting.reasoning else CUE,
    ).strip()
    stems = (question.stem_template, *(one.template_id for one in examples if _stem(one, setting)))
    return Words(
        system="" if weighed else form.words["system"],
        text=text,
        choices=question.options if weighed else (),
        templates=tuple(sorted({stem for stem in stems if stem})),
        prompt=f"{question.format} {form.words['version']}, frame {frame.version}",
    )


def _check(question: Question, setting: Setting, examples: Sequence[Question]) -> None:
    if question.format not in FORMATS or not applies(question.format, setting):
        raise UsageError(
            f"a question of the format {question.format} can't be asked in {setting.name}",
            todo="leave these out: ehrkg.evaluation.asking.prompting.applies tells which",
        )
    if len(examples) != setting.shots:
        raise UsageError(
            f"{setting.name} needs {setting.shots} examples and was given {len(examples)}",
            todo="choose them with ehrkg.evaluation.asking.few_shot.Examples",
        )


def _stem(example: Question, setting: Setting) -> str:
    return "" if setting.control == NO_STEM else example.stem


def _joined(question: Question) -> str:
    """The right answer in words; all of them where several are right."""
    if question.format == "oeq":
        return question.answers[0]
    return ", ".join(question.options[at] for at in question.right)


@dataclass(frozen=True)
class _Form:
    """A format's file."""

    words: dict[str, str]
    templates: dict[str, jinja2.Template]

    def fill(self, part: str, question: Question, stem: str = "") -> str:
        options = [
            {"letter": letter, "text": text}
            for letter, text in zip(LETTERS, question.options, strict=False)
        ]
        letters = ", ".join(LETTERS[at] for at in question.right)
        given = {"stem": stem, "options": options, "letters": letters, "texts": _joined(question)}
        return self.templates[part].render(given).strip()


@dataclass(frozen=True)
class _Frame:
    template: jinja2.Template
    version: str


@cache
def _form(name: str) -> _Form:
    words = {key: str(value) for key, value in _file(name).items()}
    filled = [key for key in ("question", "likelihood", "answer") if key in words]
    return _Form(words, {key: _template(words[key]) for key in filled})


@cache
def _frame() -> _Frame:
    words = _file("frame")
    return _Frame(_template(words["text"]), str(words["version"]))


def _file(name: str) -> dict[str, Any]:
    place = files("ehrkg.evaluation.asking") / "prompts" / f"{name}.yaml"
    words: dict[str, Any] = yaml.safe_load(place.read_text(encoding="utf-8"))
    return words


def _template(text: str) -> jinja2.Template:
    # Plain text for a model, not a web page: nothing is to be escaped.
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701
    return environment.from_string(text)
