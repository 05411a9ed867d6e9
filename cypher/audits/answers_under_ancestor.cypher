// title: Templates whose answer lies under an ancestor of a code
// purpose: Take a code, climb from it, and see which questions ask for one of its kin: near misses, and what a model may guess from the family.
// param: build string default  The build to ask.
// param: code string ''  The code, such as ICD10CM:I50.23.
// param: up integer 2  Levels to climb, at most 4.
// param: limit integer 50  How many to show.
// columns: ancestor, ancestor_name, template, task, answer, answer_name
MATCH (c:Code)-[:MAPS_TO|IN_TREE]->(k:Concept)
WHERE c.build = $build AND c.id = $code
MATCH p = (k)-[:SUBCLASS_OF*1..4]->(a:Concept)
WITH a, min(length(p)) AS height
WHERE height <= $up
MATCH (x:Concept)-[:SUBCLASS_OF*0..4]->(a)
WITH DISTINCT a, x
MATCH (d:Code)-[:MAPS_TO|IN_TREE]->(x)
MATCH (t:Template)-[:ANSWER]->(d)
RETURN DISTINCT a.id AS ancestor, a.name AS ancestor_name, t.id AS template, t.task AS task,
       d.id AS answer, d.name AS answer_name
ORDER BY ancestor, template, answer
LIMIT $limit
