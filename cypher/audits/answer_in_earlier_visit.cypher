// title: Prognosis answers that an earlier visit already holds
// purpose: What is asked as new must be new, by concept and across code versions; each row here is an old one.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: template, answer, earlier_code, earlier_visit, concept
MATCH (t:Template)-[:ANSWER]->(c:Code)-[m:MAPS_TO]->(k:Concept)
WHERE t.build = $build AND t.task = 'prognosis' AND m.levels = 0
MATCH (d:Code)-[n:MAPS_TO]->(k)
WHERE n.levels = 0
WITH t, c.id AS answer, k.id AS concept, d.id AS earlier_code
MATCH (t)-[:TARGET]->(v:Visit)
MATCH (p:Patient)-[:HAS_VISIT]->(v)
MATCH (p)-[:HAS_VISIT]->(w:Visit)-[:DIAGNOSED]->(e:Code)
WHERE w.ordinal < v.ordinal AND e.id = earlier_code
RETURN DISTINCT t.id AS template, answer, earlier_code, w.id AS earlier_visit, concept
ORDER BY template, earlier_visit, earlier_code, concept
LIMIT $limit
