// title: Questions whose codes are linked closely
// purpose: Keep relations of which both codes reach the concept that carried the verdict within so many levels.
// param: build string default  The build to ask.
// param: levels integer 0  Greatest number of levels up the code's tree.
// columns: template
MATCH (t:Template)-[:ASSERTS]->(r:Relation)-[:HEAD]->(c:Code)-[m:MAPS_TO]->(k:Concept)
WHERE t.build = $build AND k.id = r.head_concept AND m.levels <= $levels
MATCH (r)-[:TAIL]->(d:Code)-[n:MAPS_TO]->(l:Concept)
WHERE l.id = r.tail_concept AND n.levels <= $levels
RETURN DISTINCT t.id AS template
ORDER BY template
