// title: Supported by a statement about another route
// purpose: Vancomycin by mouth is not vancomycin by vein: relations whose route the statement behind them does not name.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: relation, head, route, tail, statement, statement_route, source
MATCH (r:Relation)-[b:BACKED_BY]->(e:Evidence)
WHERE r.build = $build AND r.route <> '' AND b.polarity = 'supports' AND e.kind = 'path'
MATCH (e)-[:CITES]->(a:Concept)
MATCH (a)-[s:TREATS|PREVENTS]->(:Concept)
WHERE s.id IN e.edges AND s.route <> '' AND NOT s.route CONTAINS r.route
RETURN DISTINCT r.id AS relation, r.head AS head, r.route AS route, r.tail AS tail,
       s.id AS statement, s.route AS statement_route, s.source AS source
ORDER BY relation, statement
LIMIT $limit
