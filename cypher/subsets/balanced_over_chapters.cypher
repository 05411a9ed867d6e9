// title: As many questions of every ICD chapter
// purpose: Take at most so many of each chapter of the relation's condition, so that no organ system outweighs the others.
// param: build string default  The build to ask.
// param: each integer 20  Questions of each chapter, at most.
// columns: template
MATCH (t:Template)-[:ASSERTS]->(:Relation)-[:TAIL]->(c:Code)
WHERE t.build = $build AND c.chapter_name IS NOT NULL
WITH toLower(c.chapter_name) AS chapter, t.age_band AS age_band, t.sex AS sex, collect(DISTINCT t.id) AS held
UNWIND held AS template
UNWIND held AS other
WITH chapter, age_band, sex, template, other
WHERE other <= template
WITH chapter, age_band, sex, template, count(*) AS place
WHERE place <= $each
WITH chapter, collect(DISTINCT template) AS held
UNWIND held AS template
UNWIND held AS other
WITH chapter, template, other
WHERE other <= template
WITH chapter, template, count(*) AS place
WHERE place <= $each
RETURN DISTINCT template
ORDER BY template
