// title: Prognosis answers that an earlier visit already holds
// purpose: What is asked as new must be new, by concept and across code versions; each row here is an old one.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: template, answer, earlier_code, earlier_visit, concept
MATCH (t:Template)-[:TARGET]->(v:Visit)
WHERE t.build = $build AND t.task = 'prognosis'
MATCH (t)-[:ANSWER]->(c:Code)-[m:MAPS_TO]->(k:Concept)
WHERE m.levels = 0
MATCH (d:Code)-[n:MAPS_TO]->(k)
WHERE n.levels = 0
MATCH (w:Visit)-[:DIAGNOSED]->(d)
WHERE w.patient = t.patient AND w.ordinal < v.ordinal
RETURN DISTINCT t.id AS template, c.id AS answer, d.id AS earlier_code, w.id AS earlier_visit,
       k.id AS concept
ORDER BY template, earlier_visit, earlier_code, concept
LIMIT $limit
