// title: A question's codes, down to the rows of the tables
// purpose: Show for one template where each code of it stands: visit, file, row, and how it was written there.
// param: build string default  The build to ask.
// param: template string ''  The template's id, as in templates.parquet.
// columns: role, code, name, visit, route, file, row, written
MATCH (t:Template)-[:AT]->(v:Visit)
WHERE t.build = $build AND t.id = $template
MATCH (v)-[d:DIAGNOSED|PRESCRIBED|PERFORMED]->(c:Code)
WHERE EXISTS { MATCH (t)-[:GIVEN]->(c) }
RETURN 'context' AS role, c.id AS code, c.name AS name, v.id AS visit, d.route AS route,
       d.source AS file, d.row AS row, d.raw_code AS written
UNION ALL
MATCH (t:Template)-[:TARGET]->(v:Visit)
WHERE t.build = $build AND t.id = $template
MATCH (v)-[d:DIAGNOSED|PRESCRIBED|PERFORMED]->(c:Code)
WHERE EXISTS { MATCH (t)-[:ANSWER]->(c) }
RETURN 'answer' AS role, c.id AS code, c.name AS name, v.id AS visit, d.route AS route,
       d.source AS file, d.row AS row, d.raw_code AS written
