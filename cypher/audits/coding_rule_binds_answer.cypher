// title: Templates whose context and answer a coding instruction binds
// purpose: Where the coder had to write the second code beside the first, the answer tests the coding book, not medicine.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: template, task, given, answer, source
MATCH (t:Template)-[:GIVEN]->(c:Code)-[:IN_TREE]->(a:Concept)
WHERE t.build = $build
MATCH (a)-[s:CODE_FIRST|USE_ADDITIONAL_CODE|CODE_ALSO]->(b:Concept)
MATCH (d:Code)-[:IN_TREE]->(b)
MATCH (t)-[:ANSWER]->(d)
RETURN DISTINCT t.id AS template, t.task AS task, c.id AS given, d.id AS answer,
       s.source AS source
ORDER BY template, given, answer, source
LIMIT $limit
