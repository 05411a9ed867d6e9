// title: Possible distractors with the thinnest knowledge
// purpose: Little said of a concept makes 'not true' cheap to claim: such codes are doubtful wrong answers.
// param: build string default  The build to ask.
// param: kind string drug  The kind of code: diagnosis, procedure or drug.
// param: most integer 3  At most so many statements.
// param: limit integer 50  How many to show.
// columns: code, name, concept, concept_name, statements, visits
MATCH (c:Code)-[m:MAPS_TO]->(k:Concept)
WHERE c.build = $build AND c.kind = $kind AND m.levels <= 1
WITH DISTINCT c, k
OPTIONAL MATCH (k)-[o:TREATS|PREVENTS|CONTRAINDICATED_IN|CAUSES|PREDISPOSES_TO|HAS_PHENOTYPE|DIAGNOSES]->(:Concept)
WITH c, k, count(DISTINCT o.id) AS out
OPTIONAL MATCH (:Concept)-[i:TREATS|PREVENTS|CONTRAINDICATED_IN|CAUSES|PREDISPOSES_TO|HAS_PHENOTYPE|DIAGNOSES]->(k)
WITH c, k, out, count(DISTINCT i.id) AS into
WITH c, k, out + into AS statements
WHERE statements > 0 AND statements <= $most
OPTIONAL MATCH (v:Visit)-[:DIAGNOSED|PRESCRIBED|PERFORMED]->(c)
WITH c, k, statements, count(DISTINCT v.id) AS visits
WHERE visits > 0
RETURN c.id AS code, c.name AS name, k.id AS concept, k.name AS concept_name, statements, visits
ORDER BY statements, visits DESC, code, concept
LIMIT $limit
