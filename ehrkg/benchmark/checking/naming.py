"""Names and counts that questions tell, worked out again from codes, concepts and relations.

A million questions say a few thousand names in a few hundred ways, so each pair of a code and a
name is judged once; so is each way a stem is put, after its names are taken out of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.checking.again import Found
from ehrkg.benchmark.distractors.draws import PIECE, SHARED
from ehrkg.benchmark.distractors.right_ones import MULTI
from ehrkg.benchmark.distractors.shortlists import Ints
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.names import display, phrase
from ehrkg.benchmark.questions.option_texts import OptionTexts
from ehrkg.benchmark.questions.several import YESNO
from ehrkg.benchmark.questions.stems import render_stem, words_of
from ehrkg.benchmark.questions.writing import OPEN
from ehrkg.foundation.workers import in_order, workers_for
from ehrkg.propose.tasks import tasks

COPIED = ("relation_id", "cluster", "task", "split", "timing", "n_related")
"""Columns of a question that are its template's."""

LOOKED_AT = (
    *("item_id", "template_id", "format", "phrasing", "history", "stem"),
    *("options", "option_codes", "distractor_reasons", "answer", "answer_index"),
    *COPIED,
)
"""Columns of a question that are looked at."""

NAMES = (
    *("history", "conditions", "procedures", "drugs", "asked"),
    *("anchor", "Person", "person", "gap"),
)
"""What is taken out of a stem, in this order: the longest of what may hold another comes first."""

Routes = Mapping[str, frozenset[str]]
"""By code: the routes by which it may stand in a question."""


def names_again(
    items: pa.Table, templates: pa.Table, pool: pa.Table | None, cohort: Cohort
) -> Iterator[Found]:
    """Whether options and stems say what the rules of names make of the codes, and no more.

    Args:
        items: ITEMS.
        templates: TEMPLATES.
        pool: POOL: by which routes drugs stand as wrong options; without it options of choice are
            not looked at.
        cohort: facts about the codes.

    Returns:
        One finding a rule; ids are of questions.
    """
    templates = templates.combine_chunks()
    ids = templates["id"].combine_chunks()
    at = np.asarray(pc.fill_null(pc.index_in(items["template_id"], value_set=ids), -1), np.int64)
    items, at = items.select(list(LOOKED_AT)).filter(pa.array(at >= 0)), at[at >= 0]
    yield "copied_from_template", _COPIED, len(at), _not_copied(items, templates, at)
    routes = _routes(templates, pool)
    if pool is not None:
        broken, n = _options(items, templates, at, routes, cohort)
        yield "names: options", _OPTIONS, n, broken
    broken, n = _open_answers(items, templates, at, cohort)
    yield "names: open answers", _OPEN, n, broken
    yield "names: stems", _STEMS, len(at), _stems(items, templates, at, routes, cohort)


_COPIED = "What a question has from its template (cluster, split, n_related) is the template's."
_OPTIONS = "Every option is called what the rules of names make of its code."
_OPEN = "Every open answer is called what the rules of names make of its code."
_STEMS = "Every stem is its phrasing, with the names that the rules make of the template's codes."


def _not_copied(items: pa.Table, templates: pa.Table, at: Ints) -> list[str]:
    own = {"relation_id": "relation"}
    wrong = np.zeros(len(at), dtype=bool)
    for name in COPIED:
        asked = templates[own.get(name, name)].take(pa.array(at)).combine_chunks()
        same = pc.fill_null(pc.equal(items[name], asked), False)
        wrong |= ~np.asarray(pc.or_(same, pc.and_(items[name].is_null(), asked.is_null())), bool)
    return _ids(items, wrong)


def _routes(templates: pa.Table, pool: pa.Table | None) -> Routes:
    """The routes of each code: as an answer of a template, or as a member of the pool."""
    found: dict[str, set[str]] = defaultdict(set)
    answers = pc.list_element(templates["answer"], 0) if templates.num_rows else pa.array([])
    pairs = {*zip(answers.to_pylist(), templates["answer_route"].to_pylist(), strict=True)}
    if pool is not None:
        pairs |= {*zip(pool["code"].to_pylist(), pool["route"].to_pylist(), strict=True)}
    for code, route in pairs:
        found[code].add(route)
    return {code: frozenset(held) for code, held in found.items()}


def _options(
    items: pa.Table, templates: pa.Table, at: Ints, routes: Routes, cohort: Cohort
) -> tuple[list[str], int]:
    """Questions of choice one of whose options has another name, and how many there are."""
    chosen = np.asarray(pc.is_in(items["format"], value_set=pa.array(["mcq", MULTI])), bool)
    columns = ["item_id", "task", "options", "option_codes", "answer_index"]
    part, at = items.select(columns).filter(pa.array(chosen)), at[chosen]
    length = np.asarray(pc.list_value_length(part["options"]), np.int64)
    wrong = length != np.asarray(pc.list_value_length(part["option_codes"]), np.int64)
    of_drugs = [task for task in tasks() if tasks()[task].asks_for_drugs]
    drugs = np.asarray(pc.is_in(part["task"], value_set=pa.array(of_drugs)), bool)
    for k in np.unique(length[~wrong]).tolist():
        for of_drug in (False, True):
            here = np.flatnonzero(~wrong & (length == k) & (drugs == of_drug))
            if k and len(here):
                shown = part.take(pa.array(here))
                asked = templates["answer_route"].take(pa.array(at[here]))
                wrong[here] = (
                    _drugs_misnamed(shown, asked, k, routes, cohort)
                    if of_drug
                    else _misnamed(shown, k, cohort)
                )
    return _ids(part, wrong), part.num_rows


def _misnamed(part: pa.Table, k: int, cohort: Cohort) -> npt.NDArray[np.bool_]:
    """Whose options, all together, the rules of names call something else."""
    codes, numbers = _numbered(part["option_codes"], k)
    unknown = np.array([code not in cohort.codes for code in codes], dtype=bool)
    texts = OptionTexts()
    known = next((code for code in codes if code in cohort.codes), None)
    if known is None:
        return np.ones(len(numbers), dtype=bool)
    entry = np.array(
        [texts.entry(cohort.codes[code if code in cohort.codes else known], "") for code in codes],
        dtype=np.int64,
    )
    called, alike = texts.choose(entry[numbers])
    shown, places = _numbered(part["options"], k)
    at = {text: number for number, text in enumerate(texts.texts)}
    told = np.array([at.get(text, -1) for text in shown], dtype=np.int64)[places]
    wrong: npt.NDArray[np.bool_] = (
        (told != called).any(axis=1) | alike | unknown[numbers].any(axis=1)
    )
    return wrong


def _drugs_misnamed(
    part: pa.Table, asked: pa.ChunkedArray, k: int, routes: Routes, cohort: Cohort
) -> npt.NDArray[np.bool_]:
    """Whose drugs are called something else; an answer by the route of its template alone."""
    codes, numbers = _numbered(part["option_codes"], k)
    shown, places = _numbered(part["options"], k)
    right = np.asarray(part["answer_index"], np.int64)
    one_right = np.flatnonzero((right >= 0) & (right < k))
    route_names, of_route = _numbered_flat(asked)
    # The route of an answer is known; -1 stands for any by which the drug may be an option.
    route = np.full(numbers.shape, -1, dtype=np.int64)
    route[one_right, right[one_right]] = of_route[one_right]
    sizes = (len(codes), len(shown), len(route_names) + 1)
    keys = np.ravel_multi_index((numbers, places, route + 1), sizes)
    unique, which = np.unique(keys, return_inverse=True)
    places_of = zip(*(axis.tolist() for axis in np.unravel_index(unique, sizes)), strict=True)
    misnamed = np.array(
        [
            shown[text]
            not in _called(
                codes[code],
                [route_names[by - 1]] if by else routes.get(codes[code], ()),
                cohort,
            )
            for code, text, by in places_of
        ],
        dtype=bool,
    )
    wrong: npt.NDArray[np.bool_] = np.any(misnamed[which.reshape(numbers.shape)], axis=1)
    return wrong


def _called(code: str, routes: Iterable[str], cohort: Cohort) -> set[str]:
    facts = cohort.codes.get(code)
    return set() if facts is None else {display(facts, route) for route in routes}


def _open_answers(
    items: pa.Table, templates: pa.Table, at: Ints, cohort: Cohort
) -> tuple[list[str], int]:
    """Open questions whose answer has another name, and how many there are."""
    chosen = np.asarray(pc.equal(items["format"], OPEN), bool)
    part = items.select(["item_id", "answer"]).filter(pa.array(chosen))
    asked = templates.select(["answer", "answer_route"]).take(pa.array(at[chosen]))
    if not part.num_rows:
        return [], 0
    keys = list(
        zip(
            pc.list_element(asked["answer"], 0).to_pylist(),
            asked["answer_route"].to_pylist(),
            part["answer"].to_pylist(),
            strict=True,
        )
    )
    sound: dict[tuple[str, str, str], bool] = {}
    wrong = np.zeros(len(keys), dtype=bool)
    for place, (code, route, texts) in enumerate(keys):
        key = (code, route, "\n".join(texts))
        if key not in sound:
            sound[key] = len(texts) == 1 and texts[0] in _called(code, [route], cohort)
        wrong[place] = not sound[key]
    return _ids(part, wrong), part.num_rows


PLAIN = ("item_id", "format", "phrasing", "history", "stem")
"""What is looked at of a question whose stem names no option."""

Ways = dict[tuple[Any, ...], bool]
"""Whether a way of putting a stem is the phrasing's."""


def _stems(
    items: pa.Table, templates: pa.Table, at: Ints, routes: Routes, cohort: Cohort
) -> list[str]:
    """Questions whose stem is not what it would be now."""
    plain = items.select(list(PLAIN))
    options = items.select(["option_codes", "distractor_reasons"])
    yesno = pc.equal(items["format"], YESNO)
    ways: Ways = {}

    def judged(start: int) -> list[str]:
        wanted, which = np.unique(at[start : start + PIECE], return_inverse=True)
        rows = templates.take(pa.array(wanted)).to_pylist()
        beside = options.slice(start, PIECE).filter(yesno.slice(start, PIECE)).to_pylist()
        asks = iter(beside)
        said = [_words(row, cohort) for row in rows]
        found = []
        for row, place in zip(plain.slice(start, PIECE).to_pylist(), which.tolist(), strict=True):
            asked = row["format"] == YESNO and _asked(
                row["stem"], next(asks), rows[place], routes, cohort
            )
            if not _said_so(row, rows[place], said[place], asked or "", cohort, ways):
                found.append(row["item_id"])
        return found

    starts = range(0, len(at), PIECE)
    workers = workers_for(len(starts), least=SHARED)
    return [one for found in in_order(judged, starts, workers=workers) for one in found]


def _words(template: Mapping[str, Any], cohort: Cohort) -> dict[str, Any] | None:
    """What a template's phrasings are filled with; ``None`` where its codes are of nobody."""
    known = cohort.codes.keys() >= {*template["context"], *template["answer"]}
    return words_of(template, cohort) if known and template["visit"] in cohort.visits else None


def _said_so(
    row: Mapping[str, Any],
    template: Mapping[str, Any],
    said: Mapping[str, Any] | None,
    asked: str,
    cohort: Cohort,
    ways: Ways,
) -> bool:
    """Whether a stem is its phrasing filled with the template's names.

    The stem without its names, beside all else that a phrasing looks at, is one of few ways to put
    it; the first of each way is put into words again, and the others are it but for their names.
    """
    if said is None:
        return False
    words = said
    if row["history"] or asked:
        words = words_of(template, cohort, history=row["history"], asked=asked)
    bare = row["stem"]
    for name in NAMES:
        if words[name]:
            bare = bare.replace(words[name], f"{{{name}}}")
    many = tuple(min(2, words[f"n_{group}"]) for group in ("conditions", "procedures", "drugs"))
    asks = (template["task"], row["format"], row["phrasing"], words["sole"])
    key = (*asks, many, bool(words["history"]), bare)
    if key not in ways:
        ways[key] = row["stem"] == render_stem(
            template,
            cohort,
            format=row["format"],
            phrasing=row["phrasing"],
            history=row["history"],
            asked=asked,
        )
    return ways[key]


def _asked(
    stem: str,
    options: Mapping[str, Any],
    template: Mapping[str, Any],
    routes: Routes,
    cohort: Cohort,
) -> str:
    """What a yes/no question asks about, by the route that stands in its stem; "" if by none."""
    code = options["option_codes"][0] if options["option_codes"] else ""
    if code not in cohort.codes:
        return ""
    recorded = options["distractor_reasons"][:1] == ["answer"]
    by: Sequence[str] = (
        [template["answer_route"]] if recorded else sorted(routes.get(code, frozenset()))
    )
    said = [phrase(cohort.codes[code], route) for route in by]
    return max((name for name in said if name in stem), key=len, default="")


def _numbered(column: pa.ChunkedArray, k: int) -> tuple[list[Any], Ints]:
    """The different values of a column of lists of k, and the numbers of each row's."""
    values, numbers = _numbered_flat(pc.list_flatten(column))
    return values, numbers.reshape(-1, k)


def _numbered_flat(column: pa.ChunkedArray) -> tuple[list[Any], Ints]:
    encoded = pc.fill_null(column, "").combine_chunks().dictionary_encode()
    return encoded.dictionary.to_pylist(), np.asarray(encoded.indices, np.int64)


def _ids(table: pa.Table, wrong: npt.NDArray[np.bool_]) -> list[str]:
    found: list[str] = table["item_id"].filter(pa.array(wrong)).to_pylist()
    return found
