"""What triples say of concepts: names, parents, class axioms, statements, mappings."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa

from ehrkg.ontology.categories import kind_of, kind_of_curie
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.formats.class_axioms import class_axioms
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.rdf_words import vocabulary, words
from ehrkg.ontology.formats.sssom import match_predicates
from ehrkg.ontology.formats.statements import Owner, edges_of, owner
from ehrkg.ontology.iris import expand
from ehrkg.ontology.sql import mapped, run
from ehrkg.ontology.tables import knowledge

ENGLISH = "(lang = '' OR starts_with(lower(lang), 'en'))"


def parts_of(triples: pa.Table, path: Path) -> Parts:
    """The knowledge that a file's triples hold.

    Args:
        triples: TRIPLES.
        path: the file they are from; a source.yaml beside it says whose they are.
    """
    t = triples
    who = owner(path, licence=_licence(_header(t, "license")), version=_header(t, "version"))
    subjects = _subjects(t)
    live = run("SELECT id FROM subjects WHERE NOT obsolete", subjects=subjects)
    stated, unread = class_axioms(t)
    spoken = _statements(t, live)
    edges = pa.concat_tables(
        [edges_of(_labelled(stated, t), who), edges_of(_labelled(spoken, t), who)]
    )
    mappings, refused = _mappings(t, subjects, who)
    parts = Parts(
        knowledge(
            concepts=_concepts(t, live, who),
            synonyms=_synonyms(t, live, who),
            edges=edges,
            mappings=mappings,
        )
    )
    gone = subjects.num_rows - live.num_rows
    parts.rows.append(("nodes", subjects.num_rows, {"obsolete": gone}))
    lost = unread.num_rows
    parts.rows.append(("edges", edges.num_rows + lost, {"unread_axiom": lost}))
    if unread.num_rows:
        parts.quarantine["axioms"] = unread
    if refused.num_rows:
        number = refused.num_rows
        parts.rows.append(("mappings", number, {"no_match_predicate": number}))
        parts.quarantine["mappings"] = refused
    _note_imports(t, parts, path)
    return parts


def _note_imports(t: pa.Table, parts: Parts, path: Path) -> None:
    """Imports are said, counted and kept apart; nothing is fetched."""
    wanted = run("SELECT DISTINCT o AS ontology FROM t WHERE p = 'owl:imports' ORDER BY 1", t=t)
    if wanted.num_rows:
        wanted = wanted.set_column(0, "ontology", mapped(wanted.column("ontology"), expand))
        named = ", ".join(wanted.column("ontology").to_pylist())
        warnings.warn(
            f"{path} imports {named}: nothing is fetched, so load it apart if it matters",
            stacklevel=2,
        )
        parts.rows.append(("imports", wanted.num_rows, {"not_fetched": wanted.num_rows}))
        parts.quarantine["imports"] = wanted


def _header(t: pa.Table, role: str) -> str:
    """What the ontology says of itself, "" where nothing."""
    found = run(
        """SELECT t.o FROM t JOIN v ON t.p = v.term AND v.role = $role
        WHERE t.s IN (SELECT s FROM t WHERE p = 'rdf:type' AND o = 'owl:Ontology')
        ORDER BY v.place, t.o LIMIT 1""",
        t=t,
        v=vocabulary(),
        parameters={"role": role},
    )
    return str(found["o"][0]) if found.num_rows else ""


def _licence(said: str) -> str:
    known: dict[str, str] = words()["licences"]
    return known.get(said.rstrip("/"), said)


def _subjects(t: pa.Table) -> pa.Table:
    """The concepts described, and whether each is obsolete."""
    return run(
        """
        WITH typed AS (SELECT DISTINCT s, o FROM t WHERE p = 'rdf:type' AND NOT literal),
        found AS (
          SELECT s FROM typed
          WHERE o IN (SELECT term FROM v WHERE role = 'classes') OR starts_with(o, 'biolink:')
          UNION SELECT s FROM t JOIN v ON t.p = v.term AND v.role = 'names' WHERE literal),
        never AS (
          SELECT s FROM typed WHERE o IN (SELECT term FROM v WHERE role = 'not_concepts')
          UNION SELECT s FROM t WHERE p IN ('rdf:subject', 'owl:annotatedSource')
          UNION SELECT o FROM t WHERE p = 'owl:onProperty'
          UNION SELECT p FROM t)
        SELECT s AS id,
               s IN (SELECT t.s FROM t JOIN v ON t.p = v.term AND v.role = 'deprecated'
                     WHERE lower(trim(t.o)) IN ('true', '1')) AS obsolete
        FROM found
        WHERE NOT starts_with(s, '_:') AND s NOT IN (SELECT s FROM never)
          AND NOT list_contains((SELECT list(term) FROM v WHERE role = 'housekeeping'),
                                split_part(s, ':', 1))
        ORDER BY id""",
        t=t,
        v=vocabulary(),
    )


def _named(t: pa.Table, live: pa.Table, role: str) -> pa.Table:
    """Texts of a role by concept, best first: English before others, then the table's order."""
    return run(
        f"""
        SELECT t.s AS id, t.o AS text, {ENGLISH} AS english,
               row_number() OVER (PARTITION BY t.s
                 ORDER BY NOT {ENGLISH}, v.place, t.o, t.lang) AS place
        FROM t JOIN v ON t.p = v.term AND v.role = $role
        WHERE t.literal AND t.o <> '' AND t.s IN (SELECT id FROM live)""",  # noqa: S608
        t=t,
        v=vocabulary(),
        live=live,
        parameters={"role": role},
    )


def _concepts(t: pa.Table, live: pa.Table, who: Owner) -> pa.Table:
    rows = run(
        """
        SELECT live.id, coalesce(n.text, '') AS name, coalesce(d.text, '') AS definition,
               coalesce(c.categories, '') AS categories
        FROM live
        LEFT JOIN names n ON n.id = live.id AND n.place = 1
        LEFT JOIN definitions d ON d.id = live.id AND d.place = 1
        LEFT JOIN (SELECT s, string_agg(DISTINCT o, '|' ORDER BY o) AS categories FROM t
                   WHERE p = 'rdf:type' AND starts_with(o, 'biolink:') GROUP BY s) c
          ON c.s = live.id""",
        live=live,
        names=_named(t, live, "names"),
        definitions=_named(t, live, "definitions"),
        t=t,
    )
    told = mapped(rows.column("categories"), lambda words: kind_of(words) if words else "")
    guessed = mapped(rows.column("id"), kind_of_curie)
    return run(
        """SELECT id, name, CASE WHEN told <> '' THEN told ELSE guessed END AS kind, definition,
                  $source AS source FROM rows""",
        rows=rows.append_column("told", told).append_column("guessed", guessed),
        parameters={"source": who.infores},
    )


def _synonyms(t: pa.Table, live: pa.Table, who: Owner) -> pa.Table:
    return run(
        f"""
        WITH short AS (
          SELECT a.o AS concept, b.o AS p, c.o AS text
          FROM t a JOIN t b ON a.s = b.s JOIN t c ON a.s = c.s JOIN t d ON a.s = d.s
          WHERE a.p = 'owl:annotatedSource' AND b.p = 'owl:annotatedProperty'
            AND c.p = 'owl:annotatedTarget' AND d.p = 'oboInOwl:hasSynonymType'
            AND contains(lower(d.o), 'abbreviation'))
        SELECT id AS concept, text, CASE WHEN english THEN 'exact' ELSE 'related' END AS scope,
               $source AS source
        FROM names WHERE place > 1
        UNION
        SELECT t.s, t.o,
               CASE WHEN (t.s, t.p, t.o) IN (SELECT (concept, p, text) FROM short)
                      THEN 'abbreviation'
                    WHEN {ENGLISH} THEN v.scope ELSE 'related' END, $source
        FROM t JOIN v ON t.p = v.term AND v.role = 'synonyms'
        WHERE t.literal AND t.o <> '' AND t.s IN (SELECT id FROM live)""",  # noqa: S608
        t=t,
        v=vocabulary(),
        live=live,
        names=_named(t, live, "names"),
        parameters={"source": who.infores},
    )


def _statements(t: pa.Table, live: pa.Table) -> pa.Table:
    """Statements between concepts, plain or as rdf:Statement with its own provenance."""
    return run(
        """
        WITH fields AS (
          SELECT t.s, v.scope AS field, min(t.o) AS value
          FROM t JOIN v ON t.p = v.term AND v.role = 'statement' GROUP BY ALL),
        spoken AS (
          SELECT a.s AS statement, a.o AS subject, b.o AS relation, c.o AS object
          FROM t a JOIN t b ON a.s = b.s JOIN t c ON a.s = c.s
          WHERE a.p = 'rdf:subject' AND b.p = 'rdf:predicate' AND c.p = 'rdf:object'
            AND NOT c.literal)
        SELECT subject, relation, object,
               coalesce(lower(n.value) IN ('true', '1'), FALSE) AS negated,
               coalesce(s.value, '') AS source, coalesce(o.value, '') AS origin,
               coalesce(l.value, '') AS licence, coalesce(w.value, '') AS provenance
        FROM spoken
        LEFT JOIN fields n ON n.s = statement AND n.field = 'negated'
        LEFT JOIN fields s ON s.s = statement AND s.field = 'source'
        LEFT JOIN fields o ON o.s = statement AND o.field = 'origin'
        LEFT JOIN fields l ON l.s = statement AND l.field = 'licence'
        LEFT JOIN fields w ON w.s = statement AND w.field = 'provenance'
        UNION
        SELECT s, p, o, FALSE, '', '', '', ''
        FROM t
        WHERE NOT literal AND NOT starts_with(o, '_:') AND s IN (SELECT id FROM live)
          AND split_part(p, ':', 1) NOT IN (SELECT term FROM v WHERE role = 'housekeeping')
          AND p NOT IN (SELECT term FROM v WHERE role IN
            ('names', 'definitions', 'synonyms', 'parents', 'children', 'xrefs', 'statement'))
          AND p NOT IN (SELECT name FROM matches)
          AND (s, p, o) NOT IN (SELECT (subject, relation, object) FROM spoken)""",
        t=t,
        v=vocabulary(),
        live=live,
        matches=match_predicates(),
    )


def _labelled(stated: pa.Table, t: pa.Table) -> pa.Table:
    """Statements with what the file calls each relation."""
    return run(
        """SELECT stated.*, coalesce(l.label, '') AS label FROM stated LEFT JOIN (
             SELECT s, min(o) AS label FROM t WHERE p = 'rdfs:label' AND literal GROUP BY s) l
           ON l.s = stated.relation""",
        stated=stated,
        t=t,
    )


def _mappings(t: pa.Table, subjects: pa.Table, who: Owner) -> tuple[pa.Table, pa.Table]:
    """Mappings, and matches of a kind that says too little to be one."""
    confidence = words()["confidence"]
    rows = run(
        """
        WITH said AS (
          SELECT t.*, v.role, s.obsolete FROM t JOIN subjects s ON t.s = s.id
          LEFT JOIN v ON t.p = v.term AND v.role IN
            ('replaced_by', 'consider', 'alternative_ids', 'xrefs')
          WHERE NOT starts_with(t.o, '_:'))
        SELECT s AS subject, m.predicate, o AS object, m.confidence::DOUBLE AS confidence, p
        FROM said JOIN matches m ON said.p = m.name WHERE NOT obsolete
        UNION ALL
        SELECT s, 'skos:closeMatch', o, 0.6, p FROM said
        WHERE role = 'xrefs' AND NOT obsolete AND p NOT IN (SELECT name FROM matches)
        UNION ALL
        SELECT s, 'skos:exactMatch', o, $alternative_ids::DOUBLE, p FROM said
        WHERE role = 'alternative_ids' AND NOT obsolete
        UNION ALL
        SELECT o, 'skos:exactMatch', s, $replaced_by::DOUBLE, p FROM said
        WHERE role = 'replaced_by' AND obsolete
        UNION ALL
        SELECT o, 'skos:closeMatch', s, $consider::DOUBLE, p FROM said
        WHERE role = 'consider' AND obsolete
        UNION ALL
        SELECT s, NULL, o, NULL, p FROM said
        WHERE starts_with(p, 'skos:') AND ends_with(p, 'Match') AND NOT obsolete
          AND p NOT IN (SELECT name FROM matches)""",
        t=t,
        v=vocabulary(),
        subjects=subjects,
        matches=match_predicates(),
        parameters=confidence,
    )
    for at, name in ((0, "subject"), (2, "object")):
        rows = rows.set_column(at, name, mapped(rows.column(name), normalise))
    kept = run(
        """SELECT DISTINCT subject, predicate, object, confidence, $source AS source FROM rows
           WHERE predicate IS NOT NULL AND subject <> object""",
        rows=rows,
        parameters={"source": who.infores},
    )
    refused = run(
        "SELECT subject, p AS stated, object FROM rows WHERE predicate IS NULL ORDER BY ALL",
        rows=rows,
    )
    return kept, refused
