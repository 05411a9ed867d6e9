// title: Answers that are asked for most
// purpose: An answer that returns often can be guessed from its frequency; its share within the task shows how often.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: task, answer, name, templates, patients, share
MATCH (t:Template)
WHERE t.build = $build
WITH t.task AS task, count(t) AS total
MATCH (t:Template)-[:ANSWER]->(c:Code)
WHERE t.build = $build AND t.task = task
WITH task, total, c, count(DISTINCT t.id) AS templates, count(DISTINCT t.patient) AS patients
RETURN task, c.id AS answer, c.name AS name, templates, patients,
       round(1.0 * templates / total, 4) AS share
ORDER BY templates DESC, task, answer
LIMIT $limit
