// title: Templates whose relation has a predicate
// purpose: Cut the questions that rest on one kind of statement, such as TREATS or CAUSES.
// param: predicate string TREATS  The predicate.
// columns: template
MATCH (t:Template)-[:ASSERTS]->(r:Relation)
WHERE r.predicate = $predicate
RETURN t.id AS template
ORDER BY template
