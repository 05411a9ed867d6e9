// title: Questions that a concept touches
// purpose: Before a concept is corrected or withdrawn: the questions in which it is context, answer or evidence.
// param: build string default  The build to ask.
// param: concept string ''  The concept's CURIE, such as MONDO:0005252.
// columns: role, template, task, via
MATCH (t:Template)-[:ANSWER]->(c:Code)
WHERE t.build = $build AND EXISTS { MATCH (c)-[:MAPS_TO]->(k:Concept) WHERE k.id = $concept }
RETURN 'answer' AS role, t.id AS template, t.task AS task, c.id AS via
UNION ALL
MATCH (t:Template)-[:GIVEN]->(c:Code)
WHERE t.build = $build AND EXISTS { MATCH (c)-[:MAPS_TO]->(k:Concept) WHERE k.id = $concept }
RETURN 'context' AS role, t.id AS template, t.task AS task, c.id AS via
UNION ALL
MATCH (t:Template)-[:ASSERTS]->(:Relation)-[:BACKED_BY]->(e:Evidence)
WHERE t.build = $build AND EXISTS { MATCH (e)-[:CITES]->(k:Concept) WHERE k.id = $concept }
RETURN 'evidence' AS role, t.id AS template, t.task AS task, e.id AS via
