// title: Verdicts that rest on a broad mapping
// purpose: The code means less than the concept that carried its verdict: see whether what holds for the wide term holds for the narrow one.
// param: build string default  The build to ask.
// param: levels integer 1  At least so many levels up the code's tree.
// param: limit integer 50  How many to show.
// columns: relation, predicate, verdict, code, code_name, concept, concept_name, levels
MATCH (r:Relation)-[:HEAD|TAIL]->(c:Code)
WHERE r.build = $build AND r.verdict IN ['supported', 'contradicted', 'ambiguous']
MATCH (c)-[m:MAPS_TO]->(k:Concept)
WHERE k.id = r.head_concept OR k.id = r.tail_concept
WITH r, c, k, min(m.levels) AS levels
WHERE levels >= $levels
RETURN r.id AS relation, r.predicate AS predicate, r.verdict AS verdict, c.id AS code,
       c.name AS code_name, k.id AS concept, k.name AS concept_name, levels
ORDER BY levels DESC, verdict DESC, relation, code, concept
LIMIT $limit
