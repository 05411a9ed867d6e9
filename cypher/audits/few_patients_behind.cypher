// title: Questions whose relation few patients carry
// purpose: A relation seen in a handful of patients is chance or a risk to privacy; eleven is the usual least number.
// param: build string default  The build to ask.
// param: least integer 11  Fewer patients than this.
// param: limit integer 50  How many to show.
// columns: relation, head, predicate, tail, patients, templates
MATCH (t:Template)-[:ASSERTS]->(r:Relation)
WHERE r.build = $build AND r.n_patients < $least
WITH r, count(t) AS templates
RETURN r.id AS relation, r.head AS head, r.predicate AS predicate, r.tail AS tail,
       r.n_patients AS patients, templates
ORDER BY patients, templates DESC, relation
LIMIT $limit
