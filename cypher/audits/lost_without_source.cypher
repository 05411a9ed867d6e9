// title: Relations that lose their verdict without a source
// purpose: Know the price of leaving a source out: what falls, and how many questions fall with it.
// param: build string default  The build to ask.
// param: source string ''  The source to leave out; all by default.
// param: limit integer 50  How many to show.
// columns: source, relation, head, predicate, tail, score, templates
MATCH (r:Relation)-[:DEPENDS_ON]->(s:Source)
WHERE r.build = $build AND ($source = '' OR s.id = $source)
OPTIONAL MATCH (t:Template)-[:ASSERTS]->(r)
WITH s, r, count(t) AS templates
RETURN s.id AS source, r.id AS relation, r.head AS head, r.predicate AS predicate,
       r.tail AS tail, r.score AS score, templates
ORDER BY templates DESC, source, relation
LIMIT $limit
