// title: Questions whose relation has a predicate
// purpose: Cut the questions that rest on one kind of statement, such as TREATS or CAUSES.
// param: build string default  The build to ask.
// param: predicate string TREATS  The predicate.
// columns: template
MATCH (t:Template)-[:ASSERTS]->(r:Relation)
WHERE t.build = $build AND r.predicate = $predicate
RETURN DISTINCT t.id AS template
ORDER BY template
