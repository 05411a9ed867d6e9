"""OWL's class axioms as statements: existential restrictions, intersections, disjointness."""

from __future__ import annotations

import pyarrow as pa

from ehrkg.ontology.formats.rdf_words import vocabulary
from ehrkg.ontology.sql import run

SAME = "('rdfs:subClassOf', 'owl:equivalentClass', 'owl:intersectionOf')"
"""What joins a class to an expression it is contained in."""


def class_axioms(t: pa.Table) -> tuple[pa.Table, pa.Table]:
    """What follows from each axiom for the class it is about.

    ``A SubClassOf (R some B)`` states A R B. Of an intersection, every member is stated, of an
    equivalent class too, since both contain A. Of disjoint classes, each pair is.

    Args:
        t: TRIPLES.

    Returns:
        STATED, and the axioms out of which nothing is made here (unions, complements, universal
        and number restrictions, axioms about expressions), with the class each is about.
    """
    members = _members(t)
    contained = _contained(t, members)
    read = run(
        """
        SELECT c.class AS subject, p.o AS relation, f.o AS object, c.node
        FROM contained c JOIN t p ON p.s = c.node AND p.p = 'owl:onProperty'
        JOIN t f ON f.s = c.node AND f.p = 'owl:someValuesFrom'
        WHERE NOT starts_with(p.o, '_:') AND NOT starts_with(f.o, '_:')
        UNION ALL
        SELECT class, 'rdfs:subClassOf', node, node FROM contained
        WHERE NOT starts_with(node, '_:')""",
        contained=contained,
        t=t,
    )
    stated = run(
        """
        SELECT subject, relation, object FROM read WHERE object <> 'owl:Thing'
        UNION ALL SELECT * FROM parents UNION ALL SELECT * FROM apart""",
        read=read,
        parents=_parents(t),
        apart=_disjoint(t, members),
    )
    unread = run(
        """
        SELECT DISTINCT c.class AS subject, coalesce(k.p, 'owl:Class') AS axiom
        FROM contained c LEFT JOIN (
          SELECT s, min(p) AS p FROM t
          WHERE starts_with(p, 'owl:') AND p <> 'owl:onProperty' GROUP BY s) k ON k.s = c.node
        WHERE c.leaf AND starts_with(c.node, '_:') AND c.node NOT IN (SELECT node FROM read)
        UNION
        SELECT o, p FROM t WHERE starts_with(s, '_:') AND NOT literal AND
          p IN ('rdfs:subClassOf', 'owl:disjointWith')
        UNION
        SELECT s, p FROM t
        WHERE p IN ('owl:unionOf', 'owl:complementOf', 'owl:disjointUnionOf', 'owl:oneOf')
          AND NOT starts_with(s, '_:')
        ORDER BY ALL""",
        contained=contained,
        read=read,
        t=t,
    )
    return stated, unread


def _parents(t: pa.Table) -> pa.Table:
    """Named parents, those of thesauri too."""
    return run(
        """
        SELECT CASE WHEN v.role = 'parents' THEN s ELSE o END AS subject,
               'rdfs:subClassOf' AS relation,
               CASE WHEN v.role = 'parents' THEN o ELSE s END AS object
        FROM t JOIN v ON t.p = v.term AND v.role IN ('parents', 'children')
        WHERE NOT literal AND NOT starts_with(s, '_:') AND NOT starts_with(o, '_:')
          AND s <> 'owl:Thing' AND o <> 'owl:Thing'""",
        t=t,
        v=vocabulary(),
    )


def _members(t: pa.Table) -> pa.Table:
    """Members of RDF lists, with the node each list hangs on and by which predicate."""
    return run(
        """
        WITH RECURSIVE cells AS (
          SELECT s AS owner, p AS predicate, o AS cell FROM t
          WHERE p IN ('owl:intersectionOf', 'owl:members')
          UNION
          SELECT owner, predicate, r.o FROM cells
          JOIN (SELECT s, o FROM t WHERE p = 'rdf:rest' AND o <> 'rdf:nil') r ON r.s = cell)
        SELECT owner, predicate, f.o AS member FROM cells
        JOIN (SELECT s, o FROM t WHERE p = 'rdf:first') f ON f.s = cell""",
        t=t,
    )


def _contained(t: pa.Table, members: pa.Table) -> pa.Table:
    """Each class with the expressions that contain it, intersections taken apart.

    ``leaf`` is true where nothing is left to be taken apart.
    """
    return run(
        f"""
        WITH RECURSIVE steps AS (
          SELECT owner, member FROM members WHERE predicate = 'owl:intersectionOf'),
        walk AS (
          SELECT DISTINCT s AS class, CASE WHEN p = 'owl:intersectionOf' THEN s ELSE o END AS node
          FROM t
          WHERE p IN {SAME} AND NOT literal AND NOT starts_with(s, '_:')
            AND (p = 'owl:intersectionOf' OR starts_with(o, '_:'))
          UNION
          SELECT class, steps.member FROM walk JOIN steps ON steps.owner = walk.node)
        SELECT class, node, node NOT IN (SELECT owner FROM steps) AS leaf FROM walk
        WHERE class <> node""",  # noqa: S608
        t=t,
        members=members,
    )


def _disjoint(t: pa.Table, members: pa.Table) -> pa.Table:
    """Pairs of named classes that share nothing, each once."""
    return run(
        """
        SELECT DISTINCT least(a, b) AS subject, 'owl:disjointWith' AS relation,
               greatest(a, b) AS object
        FROM (
          SELECT s AS a, o AS b FROM t WHERE p = 'owl:disjointWith' AND NOT literal
          UNION ALL
          SELECT x.member, y.member FROM members x JOIN members y ON x.owner = y.owner
          WHERE x.predicate = 'owl:members' AND y.predicate = 'owl:members'
            AND x.member < y.member)
        WHERE NOT starts_with(a, '_:') AND NOT starts_with(b, '_:') AND a <> b""",
        t=t,
        members=members,
    )
