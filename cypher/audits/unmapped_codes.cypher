// title: Codes without a concept, by the visits they touch
// purpose: See what the knowledge cannot reach: these codes can be neither answers nor distractors.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: code, name, kind, visits
MATCH (v:Visit)-[:DIAGNOSED|PRESCRIBED|PERFORMED]->(c:Code)
WHERE v.build = $build AND NOT EXISTS { MATCH (c)-[:MAPS_TO]->(:Concept) }
RETURN c.id AS code, c.name AS name, c.kind AS kind, count(DISTINCT v.id) AS visits
ORDER BY visits DESC, code
LIMIT $limit
