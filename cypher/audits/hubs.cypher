// title: Concepts that back suspiciously many relations
// purpose: A term that much rests on is either central or too wide; its share of all supported relations tells.
// param: build string default  The build to ask.
// param: share float 0.05  Least share of the supported relations.
// param: limit integer 50  How many to show.
// columns: concept, name, relations, share, templates
MATCH (r:Relation)
WHERE r.build = $build AND r.verdict = 'supported'
WITH count(r) AS total
MATCH (r:Relation)-[b:BACKED_BY]->(e:Evidence)
WHERE r.build = $build AND r.verdict = 'supported' AND b.polarity = 'supports'
MATCH (e)-[:CITES]->(k:Concept)
OPTIONAL MATCH (t:Template)-[:ASSERTS]->(r)
WITH k, total, count(DISTINCT r.id) AS relations, count(DISTINCT t.id) AS templates
WHERE 1.0 * relations / total >= $share
RETURN k.id AS concept, k.name AS name, relations,
       round(1.0 * relations / total, 4) AS share, templates
ORDER BY relations DESC, concept
LIMIT $limit
