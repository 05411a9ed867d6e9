"""What a declaration may say: the words of its YAML, checked when it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.sources import Source, source_of

SCOPES = ("exact", "related", "brand", "abbreviation")


class _TextLoader(yaml.SafeLoader):
    """Every scalar as text, so that ``NO`` or ``2018-10-12`` is what it looks like; "<<" merges."""


_TextLoader.yaml_implicit_resolvers = {"<": [("tag:yaml.org,2002:merge", re.compile("<<"))]}


class _Strict(BaseModel):
    """A word that is not listed is a mistake, and said so."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Cell(_Strict):
    """A value, or several, made of a row's columns. A bare word is the name of a column.

    The steps are taken in the order of this list; each is left out where it is not needed.

    Attributes:
        column: the column it is read from.
        first_of: columns of which the first that is not empty is read.
        text: the same value in every row.
        join: a text with columns in braces: ``"{relation}: {note}"``.
        several: the cell holds several: ``python`` and ``json`` lists, or the sign between them.
        rewrite: regular expressions and what each becomes; the first that fits the whole value.
        values: what each value becomes, compared without regard to case.
        otherwise: what a value becomes that ``values`` does not list; without it, it stays.
        lookup: the value is a key of the same table: ``{key: label, value: id}``.
        slug: lower case, with "_" for all that is neither letter nor digit.
        pad: zeros are put before it up to this length.
        prefix: put before it with a colon where it carries no prefix yet; may be a cell itself.
    """

    column: str | None = None
    first_of: tuple[str, ...] = ()
    text: str | None = None
    join: str | None = None
    several: str | None = None
    rewrite: Mapping[str, str] = {}
    values: Mapping[str, str] = {}
    otherwise: str | None = None
    lookup: Lookup | None = None
    slug: bool = False
    pad: int = 0
    prefix: Cell | str | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, given: Any) -> Any:
        return {"column": given} if isinstance(given, str) else given

    @model_validator(mode="after")
    def _one_origin(self) -> Cell:
        ways = (self.column, self.first_of or None, self.text, self.join)
        if sum(way is not None for way in ways) != 1:
            raise ValueError("needs one of column, first_of, text, join")
        return self


class Lookup(_Strict):
    """Two columns of the same table: a value found under ``key`` becomes what is under ``value``.

    A key that stands beside several values is not resolved.
    """

    key: str
    value: str


class Condition(_Strict):
    """What a row must hold for something to apply; all that is given must be true.

    Attributes:
        cell: the value looked at (its own words stand beside these in YAML, or ``column`` alone).
        equals, differs: one of these, or none of these, without regard to case and blanks.
        matches: a regular expression that fits the whole value.
        empty: whether there is no value.
    """

    cell: Cell
    equals: tuple[str, ...] | None = None
    differs: tuple[str, ...] | None = None
    matches: str | None = None
    empty: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, given: Any) -> Any:
        return _gathered(given, ("equals", "differs"))

    @model_validator(mode="after")
    def _some_test(self) -> Condition:
        given = (self.equals, self.differs, self.matches, self.empty)
        if all(test is None for test in given):
            raise ValueError("needs one of equals, differs, matches, empty")
        return self


class Drop(Condition):
    """Rows that are left out, counted in the ledger and kept in quarantine under ``reason``."""

    reason: str = Field(pattern=r"^[a-z][a-z0-9_]*$")


class Synonyms(_Strict):
    """Further names: the cell that holds them and what they are (``SCOPES``)."""

    cell: Cell
    scope: str = Field(default="exact", pattern=f"^({'|'.join(SCOPES)})$")

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, given: Any) -> Any:
        return _gathered(given, ())


class MappingSpec(_Strict):
    """Links of a concept to other vocabularies.

    Attributes:
        subject: the concept; left out inside ``concepts``, where it is the concept's own id.
        object: identifiers of other vocabularies.
        predicate: an SSSOM predicate as ``match_predicates.yaml`` lists them.
        confidence: 0 to 1; the predicate's usual one by default.
        where: only in rows that hold this.
    """

    subject: Cell | None = None
    object: Cell
    predicate: Cell = Cell(text="skos:closeMatch")
    confidence: float | None = Field(default=None, ge=0, le=1)
    where: tuple[Condition, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _several(cls, given: Any) -> Any:
        return _listed(given, "where")


class ConceptSpec(_Strict):
    """A concept that each row names.

    Attributes:
        id: its identifier (several in a list cell make several concepts without a name).
        name, definition: as they say.
        kind: disease, finding, drug, drug_class, procedure, grouping, or a Biolink category; by the
            identifier's prefix where left out or empty.
        synonyms: further names.
        mappings: links to other vocabularies.
        where: only in rows that hold this.
    """

    id: Cell
    name: Cell | None = None
    definition: Cell | None = None
    kind: Cell | None = None
    synonyms: tuple[Synonyms, ...] = ()
    mappings: tuple[MappingSpec, ...] = ()
    where: tuple[Condition, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _several(cls, given: Any) -> Any:
        return _listed(given, "synonyms", "mappings", "where")


class EdgeSpec(_Strict):
    """A statement that each row makes; list cells make one for each pair of their values.

    Attributes:
        subject, object: identifiers.
        predicate: its name in the file, looked up in the declaration's ``predicates``, then in
            predicate_aliases.yaml; an unknown one is kept under RELATED_TO with its name beside it.
        negated: true, yes, 1 or not: the row says that it does not hold.
        route: routes the statement holds for.
        source: an infores id of ``source`` or ``sources``; the former by default.
        origin: where the fact was first stated; the source's by default.
        provenance: a reference.
        turned: rows in which subject and object stand the other way round.
        symmetric: the statement has no direction; the lesser identifier is made the subject, so
            that a pair that stands both ways is one statement.
        bare_ends: subjects and objects are concepts even where no row names them.
        where: only in rows that hold this.
    """

    subject: Cell
    predicate: Cell
    object: Cell
    negated: Cell | None = None
    route: Cell | None = None
    source: Cell | None = None
    origin: Cell | None = None
    provenance: Cell | None = None
    turned: tuple[Condition, ...] | None = None
    symmetric: tuple[Condition, ...] | None = None
    bare_ends: bool = False
    where: tuple[Condition, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _several(cls, given: Any) -> Any:
        return _listed(given, "turned", "symmetric", "where")


class TableSpec(_Strict):
    """One table: which files hold it, how they are written, what a row says.

    Attributes:
        files: patterns of file names (``*.tsv``), without ".gz", of which any may fit.
        format: tsv, csv, json or jsonl; by the file's name, else by its first line.
        quoted: whether cells may stand in quotes; so in CSV, not in TSV, unless said.
        header: names of the columns where the file has no line of them.
        encoding: of the bytes.
        at: JSON only: the path to the list of rows (``results.rows``).
        requires: columns that tell the table from others, beside those that are used.
        distinctive: whether the columns alone tell the table, whatever the file's name.
        drop: rows to leave out.
        concepts, edges, mappings: what a row says; one of them at least.
    """

    files: tuple[str, ...]
    format: str | None = Field(default=None, pattern="^(tsv|csv|json|jsonl)$")
    quoted: bool | None = None
    header: tuple[str, ...] = ()
    encoding: str = "utf-8"
    at: str = ""
    requires: tuple[str, ...] = ()
    distinctive: bool = True
    drop: tuple[Drop, ...] = ()
    concepts: tuple[ConceptSpec, ...] = ()
    edges: tuple[EdgeSpec, ...] = ()
    mappings: tuple[MappingSpec, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _several(cls, given: Any) -> Any:
        return _listed(given, "files", "drop", "concepts", "edges", "mappings")

    @model_validator(mode="after")
    def _something(self) -> TableSpec:
        if not (self.concepts or self.edges or self.mappings):
            raise ValueError("needs concepts, edges or mappings")
        if any(mapping.subject is None for mapping in self.mappings):
            raise ValueError("mappings of a table need a subject")
        return self

    @property
    def unit(self) -> str:
        """What its rows are counted as in the ledger."""
        return "edges" if self.edges else "mappings" if self.mappings else "nodes"


class Declaration(_Strict):
    """A whole declaration.

    Attributes:
        name: what ``load(..., format=name)`` calls it.
        words: how a list of formats describes it.
        source: infores, name, origin, licence, url, version, reliability, text; as in source.yaml.
        sources: further ones, which edges name by their infores id.
        predicates: names of this file's predicates and the ehrkg predicate each becomes.
        without: edges to leave out, by the file's predicate, the ehrkg predicate, or the origin.
        tables: the tables.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    words: str = ""
    source: Source
    sources: tuple[Source, ...] = ()
    predicates: Mapping[str, Any] = {}
    without: tuple[str, ...] = ()
    tables: tuple[TableSpec, ...] = Field(min_length=1)


def _listed(given: Any, *names: str) -> Any:
    """One thing where several may stand is a list of one."""
    if not isinstance(given, dict):
        return given
    return {
        key: [value] if key in names and not isinstance(value, list) else value
        for key, value in given.items()
    }


def _gathered(given: Any, lists: tuple[str, ...]) -> Any:
    """The words of a cell, which stand beside the others in YAML, put together."""
    if isinstance(given, str):
        return {"cell": given}
    if not isinstance(given, dict) or "cell" in given:
        return given
    cell = {key: value for key, value in given.items() if key in Cell.model_fields}
    rest = {key: value for key, value in given.items() if key not in cell}
    return _listed({**rest, "cell": cell}, *lists)


def read_declaration(path: Path, *, folders: Sequence[Path] = ()) -> Declaration:
    """Read a declaration from its YAML.

    Args:
        path: the file.
        folders: where one that is named by ``extends`` is looked for, after the file's own.

    Raises:
        InputError: it is no YAML, or a word is unknown, missing or of the wrong kind.
    """
    given = _raw(path, folders)
    try:
        given["source"] = source_of(given.get("source"), path)
        given["sources"] = [source_of(row, path) for row in given.get("sources") or ()]
        return Declaration.model_validate(_listed(given, "without"))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"the declaration can't be used: {first['msg']}",
            file=path,
            column=place,
            found=str(first["input"])[:200],
            todo="mend the YAML; help(ehrkg.ontology.declared) has an example",
        ) from error


def _raw(path: Path, folders: Sequence[Path]) -> dict[str, Any]:
    """The YAML as it stands, on top of what it extends."""
    try:
        given: Any = yaml.load(path.read_text(encoding="utf-8"), Loader=_TextLoader)  # noqa: S506
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise InputError(
            "not YAML",
            file=path,
            line=mark.line + 1 if mark else None,
            found=str(getattr(error, "problem", None) or error).splitlines()[0],
            todo="mend the file",
        ) from error
    if not isinstance(given, dict):
        raise InputError("no declaration", file=path, expected="name, source and tables")
    name = given.pop("extends", None)
    if name is None:
        return given
    for place in (path.parent / str(name), *(folder / f"{name}.yaml" for folder in folders)):
        if place.is_file() and place != path:
            under = _raw(place, folders)
            told = {**(under.get("source") or {}), **(given.get("source") or {})}
            return {**under, **given, "source": told}
    raise InputError(
        "extends a declaration that is not there",
        file=path,
        column="extends",
        found=name,
        todo="name a declaration that ships, or a file beside this one",
    )
