"""The options of questions as one long table, with what can be read off them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.facts.intervals import Floats
from ehrkg.benchmark.facts.names import words
from ehrkg.benchmark.opened.benchmark import Benchmark
from ehrkg.foundation.hashing import hash64, mix
from ehrkg.propose.tasks import tasks

Ints = npt.NDArray[np.int64]

STYLE = ("length", "words", "digits", "capitals", "commas", "unspecified")
FROM_POOL = ("frequency", "degree", "decile", "confidence", "grain")


@dataclass(frozen=True)
class Options:
    """One row an option of the questions of one task and format.

    Attributes:
        task: of them all.
        item: which question an option belongs to, from 0, rising.
        n_options: of each question.
        place: of each option in its question, from 0.
        is_answer: of each option.
        text: of each option.
        features: numbers by name, one an option; only what could be found out is there.
        thing: of each option: a hash of its code (of a drug's name).
        cluster: of each question, a hash.
    """

    task: str
    item: Ints
    n_options: Ints
    place: Ints
    is_answer: npt.NDArray[np.bool_]
    text: list[str]
    features: Mapping[str, Floats]
    thing: Ints
    cluster: Ints

    def __len__(self) -> int:
        return len(self.n_options)

    @cached_property
    def starts(self) -> Ints:
        """Position of each question's first option."""
        return np.concatenate([[0], np.cumsum(self.n_options)[:-1]]).astype(np.int64)

    @cached_property
    def answer_thing(self) -> Ints:
        """Of each question: the hash of its answer; of several, the least.

        Not that of the first: a question would be looked at because the first of the right ones is
        of a half of the codes, and so the first places of that half would be right oftener.
        """
        held = np.where(self.is_answer, self.thing, np.iinfo(np.int64).max)
        least: Ints = np.minimum.reduceat(held, self.starts) if len(self) else self.starts
        return least

    def over_chance(self, scores: Floats, among: npt.NDArray[np.bool_] | None = None) -> Floats:
        """How right the highest score is, one number a question, as a multiple of chance.

        If h of the t options that share the highest score are right, it is h/t right. Chance is the
        share of right ones among all that can be chosen.

        Args:
            scores: one an option.
            among: only these options can be chosen.

        Returns:
            One number a question; a question of whose options none or all are right gives
            not-a-number.
        """
        if not len(self):
            return np.zeros(0)
        open_ = np.ones(len(scores), dtype=bool) if among is None else among
        held = np.where(open_, scores, -np.inf)
        best = np.maximum.reduceat(held, self.starts)[self.item]
        tied = open_ & (held >= best)
        count = np.add.reduceat(open_.astype(np.int64), self.starts)
        hits = np.add.reduceat((tied & self.is_answer).astype(np.int64), self.starts)
        asks = np.add.reduceat((open_ & self.is_answer).astype(np.int64), self.starts)
        ties = np.maximum(1, np.add.reduceat(tied.astype(np.int64), self.starts))
        known = (asks > 0) & (asks < count)
        times = (hits * count).astype(np.float64) / (ties * np.maximum(1, asks))
        return np.where(known, times, np.nan)

    def matrix(self, names: tuple[str, ...]) -> Floats:
        """Features by name, each also as its rank and as its distance from the question's mean."""
        if not len(self):
            return np.zeros((0, 3 * len(names)))
        columns: list[Floats] = []
        for name in names:
            values = self.features[name]
            total: Floats = np.add.reduceat(values, self.starts)
            mean = (total / self.n_options)[self.item]
            order = np.lexsort((values, self.item))
            rank = np.empty(len(values))
            rank[order] = np.arange(len(values)) - self.starts[self.item[order]]
            columns += [values, values - mean, rank / (self.n_options[self.item] - 1)]
        table: Floats = np.column_stack(columns).astype(np.float64)
        return table.round(6)


def options_of(part: Benchmark, task: str, pool: pa.Table | None, whole: Benchmark) -> Options:
    """Lay out the options of a task's questions: one of them is right, or several are.

    Args:
        part: the questions.
        task: theirs.
        pool: POOL, for frequency and degree; without it those features are not there.
        whole: the benchmark that they are of, for what it asks for elsewhere.
    """
    n_options = np.asarray(pc.list_value_length(part.column("options")), dtype=np.int64)
    item = np.repeat(np.arange(len(n_options)), n_options)
    starts = np.cumsum(n_options) - n_options
    place = np.arange(len(item)) - starts[item]
    text = pc.list_flatten(part.column("options")).to_pylist()
    codes = pc.list_flatten(part.column("option_codes")).to_pylist()
    answer = np.asarray(part.column("answer_index"), dtype=np.int64)
    is_answer = place == answer[item]
    if (answer < 0).any():
        rights = [set(texts) for texts in part.column("answer").to_pylist()]
        told = [name in rights[at] for name, at in zip(text, item.tolist(), strict=True)]
        is_answer = np.array(told, dtype=bool)
    thing, cluster = numbers_of(_things(task, text, codes)), numbers_of(part.column("cluster"))
    return Options(
        task=task,
        item=item,
        n_options=n_options,
        place=place,
        is_answer=is_answer,
        text=text,
        features=_style(text)
        | _overlap(part.column("stem").to_pylist(), text, item)
        | history_of(part, codes, item)
        | from_pool(pool, part, task, text, codes, item)
        | asked_elsewhere(whole, task, thing, cluster[item]),
        thing=thing,
        cluster=cluster,
    )


def _things(task: str, text: list[str], codes: list[str]) -> pa.ChunkedArray:
    """What an option stands for: its code; a drug is known by its name."""
    values = text if tasks()[task].asks_for_drugs else codes
    return pa.chunked_array([pa.array(values, pa.string())])


def propositions_of(
    part: Benchmark, task: str, pool: pa.Table | None, names: Mapping[str, str]
) -> Options:
    """Lay out a task's yes/no questions: "yes" with what is asked about, "no" with the middle.

    What is asked about gives its features to the "yes"; the "no" has the median of them all. So to
    take the highest is to say yes to what has more than the middle one. Where a feature cannot be
    found out, it is the median too, and tells nothing.

    Args:
        part: the questions.
        task: theirs.
        pool: POOL; without it there is neither frequency nor degree.
        names: code to its name as an option (see ``names_shown``).
    """
    n = len(part)
    codes = [held[0] for held in part.column("option_codes").to_pylist()]
    text = [names.get(code, "") for code in codes]
    asked, nameless = np.arange(n), np.array([not name for name in text], dtype=bool)
    features = (
        {name: np.where(nameless, np.nan, values) for name, values in _style(text).items()}
        | history_of(part, codes, asked)
        | from_pool(pool, part, task, text, codes, asked, unknown=float("nan"))
    )
    says_yes = np.asarray(part.column("answer_index"), dtype=np.int64) == 0
    stands_for = [name or code for name, code in zip(text, codes, strict=True)]
    return Options(
        task=task,
        item=np.repeat(asked, 2),
        n_options=np.full(n, 2, np.int64),
        place=np.tile(np.arange(2), n),
        is_answer=np.stack([says_yes, ~says_yes], axis=1).reshape(-1),
        text=[word for name in text for word in (name, "")],
        features={name: _beside_the_middle(values) for name, values in features.items()},
        thing=np.repeat(numbers_of(_things(task, stands_for, codes)), 2),
        cluster=numbers_of(part.column("cluster")),
    )


def asked_elsewhere(whole: Benchmark, task: str, thing: Ints, cluster: Ints) -> dict[str, Floats]:
    """Whether other patients' templates ask for what an option stands for.

    Args:
        whole: the benchmark.
        task: whose templates.
        thing: of each option, a hash.
        cluster: of each option's question, a hash.
    """
    templates = whole.templates()
    templates = templates.filter(pc.equal(templates["task"], task))
    codes = pc.list_element(templates["answer"], 0).to_pylist()
    names = names_shown(whole, task) if tasks()[task].asks_for_drugs else {}
    asked = numbers_of(pa.chunked_array([pa.array([names.get(c, c) for c in codes], pa.string())]))
    pairs, first = np.unique(mix(0, asked, numbers_of(templates["cluster"])), return_index=True)
    things, patients = np.unique(asked[first], return_counts=True)
    own = np.isin(mix(0, thing, cluster), pairs)
    elsewhere = np.isin(thing, things[patients > 1]) | (np.isin(thing, things) & ~own)
    return {"asked": elsewhere.astype(np.float64)}


def _beside_the_middle(values: Floats) -> Floats:
    """Each value, and the median after it; the median where a value is not known."""
    known = values[np.isfinite(values)]
    middle = float(np.median(known)) if len(known) else 0.0
    filled = np.where(np.isfinite(values), values, middle)
    return np.stack([filled, np.full(len(filled), middle)], axis=1).reshape(-1)


def names_shown(bench: Benchmark, task: str) -> dict[str, str]:
    """Code to its name as an option or an open answer, wherever the benchmark shows it."""
    found: dict[str, str] = {}
    for form in ("mcq", "multi"):
        part = bench.filter(task=task, format=form)
        codes, texts = (pc.list_flatten(part.column(name)) for name in ("option_codes", "options"))
        found |= dict(zip(codes.to_pylist(), texts.to_pylist(), strict=True))
    opened = bench.filter(task=task, format="oeq")
    by_template = dict(
        zip(
            opened.column("template_id").to_pylist(),
            opened.column("answer").to_pylist(),
            strict=True,
        )
    )
    for row in opened.templates().select(["id", "answer"]).to_pylist():
        if row["answer"] and by_template.get(row["id"]):
            found.setdefault(row["answer"][0], by_template[row["id"]][0])
    return found


def numbers_of(column: pa.ChunkedArray) -> Ints:
    """A hash a value, as a number that sorts without reading anything into the value."""
    encoded = column.combine_chunks().dictionary_encode()
    hashed = np.array(
        [hash64("fold", value) >> 1 for value in encoded.dictionary.to_pylist()], dtype=np.int64
    )
    at = np.asarray(encoded.indices, dtype=np.int64)
    return hashed[at] if len(at) else np.zeros(0, dtype=np.int64)


def _style(text: list[str]) -> dict[str, Floats]:
    """How a name is written, whatever it says."""
    rows = {name: _style_of(name) for name in set(text)}
    table = np.array([rows[name] for name in text], dtype=float).reshape(len(text), len(STYLE))
    return {name: table[:, at] for at, name in enumerate(STYLE)}


def _style_of(text: str) -> tuple[float, ...]:
    return (
        len(text),
        len(text.split()),
        sum(letter.isdigit() for letter in text),
        sum(letter.isupper() for letter in text),
        sum(letter in ",;()" for letter in text),
        "unspecified" in text.lower() or "other" in text.lower().split(),
    )


def _overlap(stems: list[str], text: list[str], item: Ints) -> dict[str, Floats]:
    """The share of an option's words that stand in the stem."""
    in_stem = [words(stem) for stem in stems]
    in_option = {name: words(name) for name in set(text)}
    shares = [
        len(in_option[name] & in_stem[at]) / max(1, len(in_option[name]))
        for name, at in zip(text, item.tolist(), strict=True)
    ]
    return {"overlap": np.round(np.array(shares, dtype=float), 6)}


def history_of(part: Benchmark, codes: list[str], item: Ints) -> dict[str, Floats]:
    """Whether an option's code stands in the stem's history; only if any stem has one."""
    if not any(part.column("history").to_pylist()):
        return {}
    by_template = {
        row["id"]: set(row["history"] or ())
        for row in part.templates().select(["id", "history"]).to_pylist()
    }
    held = [by_template[name] for name in part.column("template_id").to_pylist()]
    seen = [code in held[at] for code, at in zip(codes, item.tolist(), strict=True)]
    return {"seen": np.array(seen, dtype=float)}


def from_pool(
    pool: pa.Table | None,
    part: Benchmark,
    task: str,
    text: list[str],
    codes: list[str],
    item: Ints,
    unknown: float = 0.0,
) -> dict[str, Floats]:
    """What the pool says of an option: diagnoses by code, drugs by name and ICD version."""
    if pool is None or not len(codes):
        return {}
    rows = pool.filter(pc.equal(pool["task"], task)).to_pylist()
    if tasks()[task].asks_for_drugs:
        eras = part.column("icd_version").to_pylist()
        known = {(row["name"], row["era"]): row for row in rows}
        keys = [(name, eras[at]) for name, at in zip(text, item.tolist(), strict=True)]
    else:
        known = {(row["code"], ""): row for row in rows}
        keys = [(code, "") for code in codes]
    columns = ("n_visits", "degree", "decile", "confidence", "grain")
    values = {key: [float(row[name]) for name in columns] for key, row in known.items()}
    none = [unknown] * len(columns)
    table = np.array([values.get(key, none) for key in keys], dtype=float)
    return {name: table[:, at] for at, name in enumerate(FROM_POOL)}
