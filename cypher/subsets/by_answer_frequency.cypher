// title: Questions with rare or with common answers
// purpose: Cut by how many visits hold the answer's code: common ones can be guessed, rare ones must be known.
// param: build string default  The build to ask.
// param: least integer 1  Least number of visits.
// param: most integer 10  Greatest number of visits.
// columns: template
MATCH (t:Template)-[:ANSWER]->(c:Code)
WHERE t.build = $build
WITH DISTINCT c
MATCH (v:Visit)-[:DIAGNOSED|PRESCRIBED|PERFORMED]->(c)
WITH c, count(DISTINCT v) AS visits
WHERE visits >= $least AND visits <= $most
MATCH (t:Template)-[:ANSWER]->(c)
WHERE t.build = $build
RETURN DISTINCT t.id AS template
ORDER BY template
