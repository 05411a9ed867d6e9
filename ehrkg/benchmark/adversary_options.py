"""The options of multiple-choice questions as one long table, with what can be read off them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.benchmark import Benchmark
from ehrkg.benchmark.intervals import Floats
from ehrkg.benchmark.names import words
from ehrkg.foundation.hashing import hash64

Ints = npt.NDArray[np.int64]

STYLE = ("length", "words", "digits", "capitals", "commas", "unspecified")
FROM_POOL = ("frequency", "degree", "decile", "confidence", "grain")


@dataclass(frozen=True)
class Options:
    """One row an option of the multiple-choice questions of one task.

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
        """Of each question: the hash of its answer."""
        return self.thing[self.is_answer]

    def over_chance(self, scores: Floats, among: npt.NDArray[np.bool_] | None = None) -> Floats:
        """How right the highest score is, one number a question, as a multiple of chance.

        If the answer is one of t that share the highest score, it is 1/t right.

        Args:
            scores: one an option.
            among: only these options can be chosen; chance is one in so many.

        Returns:
            One number a question; a question with fewer than two options to choose from, or whose
            answer is not among them, gives not-a-number.
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
        known = (count > 1) & (asks == 1)
        return np.where(known, (hits * count).astype(np.float64) / ties, np.nan)

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


def options_of(bench: Benchmark, task: str, pool: pa.Table | None) -> Options:
    """Lay out the options of a task's multiple-choice questions.

    Args:
        bench: the benchmark.
        task: which task.
        pool: POOL, for frequency and degree; without it those features are not there.
    """
    part = bench.filter(task=task, format="mcq")
    n_options = np.asarray(pc.list_value_length(part.column("options")), dtype=np.int64)
    item = np.repeat(np.arange(len(n_options)), n_options)
    starts = np.cumsum(n_options) - n_options
    place = np.arange(len(item)) - starts[item]
    text = pc.list_flatten(part.column("options")).to_pylist()
    codes = pc.list_flatten(part.column("option_codes")).to_pylist()
    answer = np.asarray(part.column("answer_index"), dtype=np.int64)
    return Options(
        task=task,
        item=item,
        n_options=n_options,
        place=place,
        is_answer=place == answer[item],
        text=text,
        features=_style(text)
        | _overlap(part.column("stem").to_pylist(), text, item)
        | _history(part.column("history").to_pylist(), part, codes, item)
        | _from_pool(pool, part, task, text, codes, item),
        thing=_numbers(
            pa.chunked_array([pa.array(text if task == "treatment" else codes, pa.string())])
        ),
        cluster=_numbers(part.column("cluster")),
    )


def _numbers(column: pa.ChunkedArray) -> Ints:
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


def _history(
    lengths: list[int], part: Benchmark, codes: list[str], item: Ints
) -> dict[str, Floats]:
    """Whether an option's code stands in the stem's history; only if any stem has one."""
    if not any(lengths):
        return {}
    by_template = {
        row["id"]: set(row["history"] or ())
        for row in part.templates().select(["id", "history"]).to_pylist()
    }
    held = [by_template[name] for name in part.column("template_id").to_pylist()]
    seen = [code in held[at] for code, at in zip(codes, item.tolist(), strict=True)]
    return {"seen": np.array(seen, dtype=float)}


def _from_pool(
    pool: pa.Table | None,
    part: Benchmark,
    task: str,
    text: list[str],
    codes: list[str],
    item: Ints,
) -> dict[str, Floats]:
    """What the pool says of an option: diagnoses by code, drugs by name and ICD version."""
    if pool is None or not len(codes):
        return {}
    rows = pool.filter(pc.equal(pool["task"], task)).to_pylist()
    if task == "treatment":
        eras = part.column("icd_version").to_pylist()
        known = {(row["name"], row["era"]): row for row in rows}
        keys = [(name, eras[at]) for name, at in zip(text, item.tolist(), strict=True)]
    else:
        known = {(row["code"], ""): row for row in rows}
        keys = [(code, "") for code in codes]
    columns = ("n_visits", "degree", "decile", "confidence", "grain")
    values = {key: [float(row[name]) for name in columns] for key, row in known.items()}
    unknown = [0.0] * len(columns)
    table = np.array([values.get(key, unknown) for key in keys], dtype=float)
    return {name: table[:, at] for at, name in enumerate(FROM_POOL)}
