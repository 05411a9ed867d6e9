// title: Statements that another statement denies
// purpose: The same two concepts, the same predicate, once stated and once negated: decide who is right.
// param: build string default  The build to ask.
// columns: predicate, subject, subject_name, object, object_name, stated_by, denied_by
MATCH (a:Concept)-[s:TREATS]->(b:Concept)
WHERE a.build = $build AND NOT s.negated
MATCH (a)-[d:TREATS]->(b)
WHERE d.negated
RETURN DISTINCT 'TREATS' AS predicate, a.id AS subject, a.name AS subject_name,
       b.id AS object, b.name AS object_name, s.source AS stated_by,
       d.source AS denied_by
UNION ALL
MATCH (a:Concept)-[s:PREVENTS]->(b:Concept)
WHERE a.build = $build AND NOT s.negated
MATCH (a)-[d:PREVENTS]->(b)
WHERE d.negated
RETURN DISTINCT 'PREVENTS' AS predicate, a.id AS subject, a.name AS subject_name,
       b.id AS object, b.name AS object_name, s.source AS stated_by,
       d.source AS denied_by
UNION ALL
MATCH (a:Concept)-[s:CAUSES]->(b:Concept)
WHERE a.build = $build AND NOT s.negated
MATCH (a)-[d:CAUSES]->(b)
WHERE d.negated
RETURN DISTINCT 'CAUSES' AS predicate, a.id AS subject, a.name AS subject_name,
       b.id AS object, b.name AS object_name, s.source AS stated_by,
       d.source AS denied_by
UNION ALL
MATCH (a:Concept)-[s:PREDISPOSES_TO]->(b:Concept)
WHERE a.build = $build AND NOT s.negated
MATCH (a)-[d:PREDISPOSES_TO]->(b)
WHERE d.negated
RETURN DISTINCT 'PREDISPOSES_TO' AS predicate, a.id AS subject, a.name AS subject_name,
       b.id AS object, b.name AS object_name, s.source AS stated_by,
       d.source AS denied_by
UNION ALL
MATCH (a:Concept)-[s:HAS_PHENOTYPE]->(b:Concept)
WHERE a.build = $build AND NOT s.negated
MATCH (a)-[d:HAS_PHENOTYPE]->(b)
WHERE d.negated
RETURN DISTINCT 'HAS_PHENOTYPE' AS predicate, a.id AS subject, a.name AS subject_name,
       b.id AS object, b.name AS object_name, s.source AS stated_by,
       d.source AS denied_by
