// title: Pairs of codes in one visit that Excludes1 keeps apart
// purpose: See how far real coding departs from the book; such a pair can't be answer and distractor in one question.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: code, name, excluded, excluded_name, visits
MATCH (c:Code)-[:IN_TREE]->(a:Concept)
WHERE c.build = $build AND c.recorded
MATCH (a)-[:EXCLUDES1]->(b:Concept)
MATCH (d:Code)-[:IN_TREE]->(b)
WITH DISTINCT c, d
MATCH (v:Visit)-[:DIAGNOSED]->(c)
MATCH (v)-[:DIAGNOSED]->(d)
RETURN c.id AS code, c.name AS name, d.id AS excluded, d.name AS excluded_name,
       count(DISTINCT v.id) AS visits
ORDER BY visits DESC, code, excluded
LIMIT $limit
