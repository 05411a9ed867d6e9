"""Questions as columns: what a baseline that answers a million of them works on.

Codes, tasks and formats are integers; options and contexts lie one after another, with the offsets
at which a question's begin. A question by itself is made only for whoever iterates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.schema import TEMPLATES
from ehrkg.evaluation.asking.pairing import Ints as Ints
from ehrkg.evaluation.asking.pairing import other_stems
from ehrkg.evaluation.asking.questions import Question, questions_of, with_stem_of
from ehrkg.evaluation.settings import NO_STEM, OTHER_STEM, PLAIN, unknown_setting
from ehrkg.foundation.hashing import hash64

Bools = npt.NDArray[np.bool_]

TRAIN = "train"

LEARNT_FROM = ((1, 2), (2,), (1,))
"""For a question of each fold, the halves of the training patients that a baseline learns from.

Fold 0 is whoever is not of the training split. A training patient belongs to half 1 or 2, by a
hash, and is answered by what was learnt from the other half: no baseline ever learns from the
patient it answers for.
"""

_BATCH = 4096


@dataclass(frozen=True, eq=False)
class Told:
    """What the stems of templates tell, as columns.

    Attributes:
        ids: of the templates, in their order.
        codes: ids of codes; the integers below are places in it.
        offsets, code: context codes of all templates, and where each template's begin.
        group: of each, its age band and sex, as a place in ``groups``.
        groups: what stands for them: "age 40-64", "sex F".
        task: names.
        answer: first answer code, -1 for none.
        fold: see ``LEARNT_FROM``.
    """

    ids: pa.Array
    codes: pa.Array
    offsets: Ints
    code: Ints
    group: Ints
    groups: pa.Array
    task: npt.NDArray[np.object_]
    answer: Ints
    fold: Ints


@dataclass(frozen=True, eq=False)
class Asked(Sequence[Question]):
    """Questions under one control, as columns, and a sequence of ``Question``.

    Attributes:
        items: all questions there are, sorted by item_id: the schema ``ITEMS``.
        rows: those that are asked, as places in ``items``.
        stem_rows: whose stem each shows, as places in ``items``; -1 for none.
        told: what the templates tell.
        template: of each item, its place in ``told``; -1 for none.
        codes: ids of codes, sorted; the same as ``told.codes``.
        tasks, formats: names.
        task, form, fold: of each question, places in ``tasks`` and ``formats``, and its fold.
        sizes: options of each question.
        option: code of each option, one question's after another's.
        right: whether each is right.
        affirms: whether it is the "yes" of a yes/no question.
    """

    items: pa.Table
    rows: Ints
    stem_rows: Ints
    told: Told
    template: Ints
    codes: pa.Array
    tasks: tuple[str, ...]
    formats: tuple[str, ...]
    task: Ints
    form: Ints
    fold: Ints
    sizes: Ints
    option: Ints
    right: Bools
    affirms: Bools

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Question]:
        for start in range(0, len(self), _BATCH):
            part = slice(start, start + _BATCH)
            yield from self._questions(self.rows[part], self.stem_rows[part])

    @overload
    def __getitem__(self, place: int) -> Question: ...
    @overload
    def __getitem__(self, place: slice) -> Asked: ...
    def __getitem__(self, place: int | slice) -> Question | Asked:
        if isinstance(place, slice):
            return self.take(np.arange(len(self))[place])
        at = range(len(self))[place]
        part = slice(at, at + 1)
        return next(self._questions(self.rows[part], self.stem_rows[part]))

    def _questions(self, rows: Ints, stems: Ints) -> Iterator[Question]:
        shown = self.items.select(["stem", "template_id"]).take(pa.array(np.maximum(stems, 0)))
        columns = (shown["stem"].to_pylist(), shown["template_id"].to_pylist(), stems.tolist())
        questions = questions_of(self.items.take(pa.array(rows)))
        for question, stem, template, row in zip(questions, *columns, strict=True):
            yield with_stem_of(question, stem, template) if row >= 0 else with_stem_of(question)

    @cached_property
    def starts(self) -> Ints:
        """Where each question's options begin; one more entry than questions."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def of(self) -> Ints:
        """Which question each option belongs to."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def stem_template(self) -> Ints:
        """The template each question's stem tells of, as a place in ``told``; -1 for none."""
        found = self.template[np.maximum(self.stem_rows, 0)] if len(self.template) else self.rows
        return np.where(self.stem_rows >= 0, found, -1)

    def is_form(self, name: str) -> Bools:
        """Which questions are of a format."""
        number = self.formats.index(name) if name in self.formats else -1
        found: Bools = self.form == number
        return found

    def column(self, name: str) -> pa.Array:
        """A column of the items, for the questions asked."""
        return _whole(self.items[name].take(pa.array(self.rows)))

    def take(self, at: Ints) -> Asked:
        """Some of the questions, by place, in the order given."""
        sizes = self.sizes[at]
        ends = np.cumsum(sizes)
        flat = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
            self.starts[at] - (ends - sizes), sizes
        )
        return replace(
            self,
            rows=self.rows[at],
            stem_rows=self.stem_rows[at],
            task=self.task[at],
            form=self.form[at],
            fold=self.fold[at],
            sizes=sizes,
            option=self.option[flat],
            right=self.right[flat],
            affirms=self.affirms[flat],
        )

    def under(self, control: str, *, seed: int = 7) -> Asked:
        """The same questions under a control; ``self`` shows their own stems.

        Raises:
            UsageError: the control is unknown.
        """
        if control == PLAIN:
            return self
        if control == NO_STEM:
            return replace(self, stem_rows=np.full(len(self), -1, np.int64))
        if control != OTHER_STEM:
            raise unknown_setting(control)
        kinds = np.stack([self.task, self.form, self.sizes], axis=1)
        groups = np.unique(kinds, axis=0, return_inverse=True)[1].reshape(-1)
        partners = other_stems(
            self.column("item_id").to_pylist(), groups, numbered(self.column("cluster")), seed=seed
        )
        mine = self.rows[np.maximum(partners, 0)] if len(self) else self.rows
        return replace(self, stem_rows=np.where(partners >= 0, mine, -1))


def asked_of(items: pa.Table, templates: pa.Table | None = None) -> Asked:
    """Lay out questions, each with its own stem, sorted by item_id.

    Args:
        items: the schema ``ITEMS``, in any order; ``stem`` and ``distractor_reasons`` may be
            absent where nobody reads them.
        templates: the schema ``TEMPLATES``; without them no context is known.

    >>> from ehrkg.benchmark import example
    >>> bench = example()
    >>> asked = asked_of(bench.to_arrow(), bench.templates())
    >>> len(asked) == len(bench) and int(asked.sizes.sum()) == len(asked.option)
    True
    >>> asked.under("no_stem")[0].stem
    ''
    """
    items = _sorted(items, "item_id")
    templates = TEMPLATES.empty_table() if templates is None else _sorted(templates, "id")
    options = _whole(items["options"])
    sizes = np.asarray(pc.list_value_length(options), dtype=np.int64)
    option_codes = pc.list_flatten(_whole(items["option_codes"]))
    contexts = _whole(templates["context"])
    answers = pc.list_element(_first_or_null(_whole(templates["answer"])), 0)
    codes = _codes(option_codes, pc.list_flatten(contexts), answers)
    told = _told(templates, contexts, answers, codes)
    task, tasks = _named(items["task"])
    form, formats = _named(items["format"])
    return Asked(
        items=items,
        rows=np.arange(items.num_rows),
        stem_rows=np.arange(items.num_rows),
        told=told,
        template=places(_whole(items["template_id"]), told.ids),
        codes=codes,
        tasks=tasks,
        formats=formats,
        task=task,
        form=form,
        fold=folds(items["split"], items["cluster"]),
        sizes=sizes,
        option=places(option_codes, codes),
        right=_right(items, sizes),
        affirms=np.asarray(pc.equal(pc.list_flatten(options), "yes"), dtype=bool)
        & np.repeat(form == (formats.index("yesno") if "yesno" in formats else -1), sizes),
    )


def folds(split: pa.ChunkedArray, cluster: pa.ChunkedArray) -> Ints:
    """The fold of each row by its patient's cluster; see ``LEARNT_FROM``."""
    encoded = pc.fill_null(_whole(cluster), "").dictionary_encode()
    halves = np.array([half_of(name) for name in encoded.dictionary.to_pylist()], np.int64)
    at = np.asarray(encoded.indices, dtype=np.int64)
    is_train = np.asarray(pc.equal(pc.fill_null(_whole(split), ""), TRAIN), dtype=bool)
    return np.where(is_train, halves[at] if len(at) else 0, 0).astype(np.int64)


@lru_cache(1 << 20)
def half_of(cluster: str) -> int:
    """The half, 1 or 2, that a training patient belongs to.

    >>> half_of("c0123456789abcdef")
    2
    """
    return 1 + hash64("half", cluster) % 2


def places(values: pa.Array, among: pa.Array) -> Ints:
    """Where each value stands in another array; -1 where it does not.

    >>> places(pa.array(["b", "x"]), pa.array(["a", "b"])).tolist()
    [1, -1]
    """
    found = pc.fill_null(pc.index_in(values, value_set=among), -1)
    return np.asarray(found, dtype=np.int64)


def numbered(values: pa.Array) -> Ints:
    """Each value as a number: equal values, and they alone, get the same."""
    return np.asarray(values.dictionary_encode().indices, dtype=np.int64)


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column as one array, from its own first row."""
    if isinstance(column, pa.ChunkedArray):
        return pa.concat_arrays(column.chunks) if column.num_chunks else column.combine_chunks()
    return column


def _sorted(table: pa.Table, key: str) -> pa.Table:
    ids = _whole(table[key])
    if len(ids) < 2 or pc.all(pc.less_equal(ids[:-1], ids[1:])).as_py():
        return table
    return table.take(pc.sort_indices(ids))


def _named(column: pa.ChunkedArray) -> tuple[Ints, tuple[str, ...]]:
    names = sorted(column.unique().to_pylist())
    return places(_whole(column), pa.array(names, pa.string())), tuple(names)


def _codes(*columns: pa.Array) -> pa.Array:
    found = pa.concat_arrays([column.unique().cast(pa.string()) for column in columns]).unique()
    return found.drop_null().sort()


def _first_or_null(lists: pa.Array) -> pa.Array:
    """Lists, null where they are empty."""
    there = pc.greater(pc.list_value_length(lists), 0)
    return pc.if_else(there, lists, pa.scalar(None, lists.type))


def _told(templates: pa.Table, contexts: pa.Array, answers: pa.Array, codes: pa.Array) -> Told:
    lengths = np.asarray(pc.fill_null(pc.list_value_length(contexts), 0), dtype=np.int64)
    band = pc.binary_join_element_wise("age ", pc.fill_null(_whole(templates["age_band"]), ""), "")
    sex = pc.binary_join_element_wise("sex ", pc.fill_null(_whole(templates["sex"]), ""), "")
    groups = pa.concat_arrays([band, sex]).unique().sort()
    return Told(
        ids=_whole(templates["id"]),
        codes=codes,
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        code=places(pc.list_flatten(contexts), codes),
        group=np.stack([places(band, groups), places(sex, groups)], axis=1),
        groups=groups,
        task=pc.fill_null(templates["task"], "").to_numpy().astype(object),
        answer=places(answers, codes),
        fold=folds(templates["split"], templates["cluster"]),
    )


def _right(items: pa.Table, sizes: Ints) -> Bools:
    """Which options are right: by place, or (where several are) by their text."""
    index = np.asarray(pc.fill_null(_whole(items["answer_index"]), -1), dtype=np.int64)
    of = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    right: Bools = place == index[of]
    several = (index < 0) & (sizes > 0)
    if several.any():
        part = items.select(["options", "answer"]).filter(pa.array(several))
        shown, wanted = (_whole(part[name]) for name in ("options", "answer"))
        texts = pa.concat_arrays([pc.list_flatten(shown), pc.list_flatten(wanted)]).unique()
        asks, answers = (
            np.asarray(pc.list_parent_indices(lists), dtype=np.int64) * len(texts)
            + places(pc.list_flatten(lists), texts)
            for lists in (shown, wanted)
        )
        right[several[of]] = np.isin(asks, answers)
    return right
