// title: Supported relations that the visits speak against
// purpose: The knowledge says yes, yet the two codes meet no more often than by chance: wrong, rare, or not this hospital's practice.
// param: build string default  The build to ask.
// param: lift float 1  Lift below this.
// param: limit integer 50  How many to show.
// columns: relation, head, predicate, tail, score, lift, patients, templates
MATCH (r:Relation)
WHERE r.build = $build AND r.verdict = 'supported' AND r.lift < $lift
OPTIONAL MATCH (t:Template)-[:ASSERTS]->(r)
WITH r, count(t) AS templates
RETURN r.id AS relation, r.head AS head, r.predicate AS predicate, r.tail AS tail,
       r.score AS score, r.lift AS lift, r.n_patients AS patients, templates
ORDER BY lift, relation
LIMIT $limit
