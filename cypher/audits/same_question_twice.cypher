// title: Templates that ask the same of one visit
// purpose: Same task, same visit, same answer: near duplicates that count one piece of knowledge several times.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: task, visit, answer, templates, relations, first
MATCH (t:Template)-[:TARGET]->(v:Visit)
WHERE t.build = $build
MATCH (t)-[:ANSWER]->(c:Code)
WITH t.task AS task, v.id AS visit, c.id AS answer, count(DISTINCT t.id) AS templates,
     count(DISTINCT t.relation) AS relations, min(t.id) AS first
WHERE templates > 1
RETURN task, visit, answer, templates, relations, first
ORDER BY templates DESC, task, visit, answer
LIMIT $limit
