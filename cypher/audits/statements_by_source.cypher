// title: Statements of each source that nobody else makes
// purpose: See what a source alone says of treatment, cause and manifestation, before relations come into it.
// param: build string default  The build to ask.
// columns: source, predicate, statements, alone
MATCH (a:Concept)-[s:TREATS]->(b:Concept)
WHERE a.build = $build
OPTIONAL MATCH (a)-[o:TREATS]->(b)
WHERE o.source <> s.source
WITH s.source AS source, s.id AS id, count(o) AS others
RETURN source, 'TREATS' AS predicate, count(*) AS statements,
       count(CASE WHEN others = 0 THEN 1 END) AS alone
UNION ALL
MATCH (a:Concept)-[s:PREVENTS]->(b:Concept)
WHERE a.build = $build
OPTIONAL MATCH (a)-[o:PREVENTS]->(b)
WHERE o.source <> s.source
WITH s.source AS source, s.id AS id, count(o) AS others
RETURN source, 'PREVENTS' AS predicate, count(*) AS statements,
       count(CASE WHEN others = 0 THEN 1 END) AS alone
UNION ALL
MATCH (a:Concept)-[s:CONTRAINDICATED_IN]->(b:Concept)
WHERE a.build = $build
OPTIONAL MATCH (a)-[o:CONTRAINDICATED_IN]->(b)
WHERE o.source <> s.source
WITH s.source AS source, s.id AS id, count(o) AS others
RETURN source, 'CONTRAINDICATED_IN' AS predicate, count(*) AS statements,
       count(CASE WHEN others = 0 THEN 1 END) AS alone
UNION ALL
MATCH (a:Concept)-[s:CAUSES]->(b:Concept)
WHERE a.build = $build
OPTIONAL MATCH (a)-[o:CAUSES]->(b)
WHERE o.source <> s.source
WITH s.source AS source, s.id AS id, count(o) AS others
RETURN source, 'CAUSES' AS predicate, count(*) AS statements,
       count(CASE WHEN others = 0 THEN 1 END) AS alone
UNION ALL
MATCH (a:Concept)-[s:PREDISPOSES_TO]->(b:Concept)
WHERE a.build = $build
OPTIONAL MATCH (a)-[o:PREDISPOSES_TO]->(b)
WHERE o.source <> s.source
WITH s.source AS source, s.id AS id, count(o) AS others
RETURN source, 'PREDISPOSES_TO' AS predicate, count(*) AS statements,
       count(CASE WHEN others = 0 THEN 1 END) AS alone
UNION ALL
MATCH (a:Concept)-[s:HAS_PHENOTYPE]->(b:Concept)
WHERE a.build = $build
OPTIONAL MATCH (a)-[o:HAS_PHENOTYPE]->(b)
WHERE o.source <> s.source
WITH s.source AS source, s.id AS id, count(o) AS others
RETURN source, 'HAS_PHENOTYPE' AS predicate, count(*) AS statements,
       count(CASE WHEN others = 0 THEN 1 END) AS alone
UNION ALL
MATCH (a:Concept)-[s:DIAGNOSES]->(b:Concept)
WHERE a.build = $build
OPTIONAL MATCH (a)-[o:DIAGNOSES]->(b)
WHERE o.source <> s.source
WITH s.source AS source, s.id AS id, count(o) AS others
RETURN source, 'DIAGNOSES' AS predicate, count(*) AS statements,
       count(CASE WHEN others = 0 THEN 1 END) AS alone
