// title: Relations backed by definitions or coding rules alone
// purpose: Find what reads like knowledge but has no path behind it; none of these may be supported.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: relation, head, predicate, tail, verdict, definitions, coding_rules, score
MATCH (r:Relation)
WHERE r.build = $build AND r.n_path = 0 AND (r.n_definition > 0 OR r.n_coding_rule > 0)
RETURN r.id AS relation, r.head AS head, r.predicate AS predicate, r.tail AS tail,
       r.verdict AS verdict, r.n_definition AS definitions, r.n_coding_rule AS coding_rules,
       r.score AS score
ORDER BY score DESC, verdict, relation
LIMIT $limit
