// title: Supported relations that rest on one origin
// purpose: Find the relations that a single statement carries, the most used first; look at these before a paper.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: relation, head, predicate, tail, origins, score, templates
MATCH (r:Relation)
WHERE r.build = $build AND r.verdict = 'supported' AND size(r.origins) = 1
OPTIONAL MATCH (t:Template)-[:ASSERTS]->(r)
WITH r, count(t) AS templates
RETURN r.id AS relation, r.head AS head, r.predicate AS predicate, r.tail AS tail,
       r.origins AS origins, r.score AS score, templates
ORDER BY templates DESC, score DESC, relation
LIMIT $limit
