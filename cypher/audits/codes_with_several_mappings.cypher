// title: Codes whose nearest link leads to several concepts
// purpose: A code that means two things is a mapping to mend; a combined drug that means two ingredients is not.
// param: build string default  The build to ask.
// param: kind string diagnosis  The kind of code: diagnosis, procedure or drug.
// param: limit integer 50  How many to show.
// columns: code, name, levels, concept, concept_name, method, visits
MATCH (c:Code)-[m:MAPS_TO]->(:Concept)
WHERE c.build = $build AND c.kind = $kind
WITH c, min(m.levels) AS levels
MATCH (c)-[m:MAPS_TO]->(k:Concept)
WHERE m.levels = levels
WITH c, levels, count(DISTINCT k.id) AS concepts
WHERE concepts > 1
OPTIONAL MATCH (v:Visit)-[:DIAGNOSED|PRESCRIBED|PERFORMED]->(c)
WITH c, levels, count(DISTINCT v.id) AS visits
MATCH (c)-[m:MAPS_TO]->(k:Concept)
WHERE m.levels = levels
RETURN c.id AS code, c.name AS name, levels, k.id AS concept, k.name AS concept_name,
       m.method AS method, visits
ORDER BY visits DESC, code, concept, method
LIMIT $limit
