// title: Questions of an ICD chapter
// purpose: Cut by a chapter of ICD-9 or ICD-10: a part of its name, whatever the case; the relation's condition lies in it.
// param: build string default  The build to ask.
// param: chapter string circulatory  A part of the chapter's name.
// columns: template
MATCH (c:Code)
WHERE c.build = $build AND toLower(coalesce(c.chapter_name, '')) CONTAINS toLower($chapter)
MATCH (r:Relation)-[:HEAD|TAIL]->(c)
MATCH (t:Template)-[:ASSERTS]->(r)
RETURN DISTINCT t.id AS template
ORDER BY template
