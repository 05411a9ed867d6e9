// title: Context codes that all but give the answer
// purpose: Where nearly every visit with the context code holds the answer too, the question asks what the code already says.
// param: build string default  The build to ask.
// param: share float 0.9  Least share of the context code's visits that hold the answer.
// param: visits integer 20  Least number of visits that hold the context code.
// param: limit integer 50  How many to show.
// columns: given, given_name, answer, answer_name, visits, both, share, templates
MATCH (t:Template)-[:GIVEN]->(c:Code)
WHERE t.build = $build AND t.task <> 'prognosis'
WITH DISTINCT c
MATCH (v:Visit)-[:DIAGNOSED|PRESCRIBED|PERFORMED]->(c)
WITH c, collect(DISTINCT v) AS holding
WHERE size(holding) >= $visits
UNWIND holding AS w
MATCH (w)-[:DIAGNOSED|PRESCRIBED|PERFORMED]->(d:Code)
WITH c, d, size(holding) AS visits, count(DISTINCT w) AS both
WHERE 1.0 * both / visits >= $share
MATCH (t:Template)-[:GIVEN]->(c)
WHERE t.task <> 'prognosis'
MATCH (t)-[:ANSWER]->(d)
WITH c, d, visits, both, count(DISTINCT t.id) AS templates
RETURN c.id AS given, c.name AS given_name, d.id AS answer, d.name AS answer_name, visits, both,
       round(1.0 * both / visits, 4) AS share, templates
ORDER BY share DESC, visits DESC, given, answer
LIMIT $limit
