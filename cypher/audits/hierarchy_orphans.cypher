// title: Concepts of recorded codes that stand outside the hierarchy
// purpose: Without a parent or a child, nothing is inherited and no sibling is found: such a concept makes poor distractors.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: concept, name, kind, codes
MATCH (c:Code)-[:MAPS_TO]->(k:Concept)
WHERE k.build = $build
  AND NOT EXISTS { MATCH (k)-[:SUBCLASS_OF]->(:Concept) }
  AND NOT EXISTS { MATCH (:Concept)-[:SUBCLASS_OF]->(k) }
RETURN k.id AS concept, k.name AS name, k.kind AS kind, count(DISTINCT c.id) AS codes
ORDER BY codes DESC, concept
LIMIT $limit
