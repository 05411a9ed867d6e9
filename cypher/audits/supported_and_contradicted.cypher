// title: Relations that one source supports and another contradicts
// purpose: Read both sides where sources disagree, and see which verdict the policy gave.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: relation, head, predicate, tail, verdict, supported_by, contradicted_by, score
MATCH (r:Relation)-[a:BACKED_BY]->(e:Evidence)
WHERE r.build = $build AND a.polarity = 'supports' AND e.kind = 'path'
MATCH (r)-[b:BACKED_BY]->(f:Evidence)
WHERE b.polarity = 'contradicts' AND f.source <> e.source
RETURN DISTINCT r.id AS relation, r.head AS head, r.predicate AS predicate, r.tail AS tail,
       r.verdict AS verdict, e.source AS supported_by, f.source AS contradicted_by,
       r.score AS score
ORDER BY score DESC, relation, supported_by, contradicted_by
LIMIT $limit
