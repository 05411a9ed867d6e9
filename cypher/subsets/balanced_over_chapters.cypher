// title: As many questions of every ICD chapter
// purpose: Take at most so many of each chapter of the relation's condition, so that no organ system outweighs the others.
// param: build string default  The build to ask.
// param: each integer 20  Questions of each chapter, at most.
// columns: template
MATCH (t:Template)-[:ASSERTS]->(:Relation)-[:TAIL]->(c:Code)
WHERE t.build = $build AND c.chapter_name IS NOT NULL
WITH DISTINCT t.id AS template, toLower(c.chapter_name) AS chapter
MATCH (u:Template)-[:ASSERTS]->(:Relation)-[:TAIL]->(d:Code)
WHERE u.build = $build AND toLower(d.chapter_name) = chapter AND u.id <= template
WITH template, chapter, count(DISTINCT u.id) AS place
WHERE place <= $each
RETURN DISTINCT template
ORDER BY template
