// title: Questions whose condition, drug or procedure lies below an ontology term
// purpose: Cut one speciality or disease family, such as everything below heart disorder.
// param: build string default  The build to ask.
// param: ancestor string ''  The term's CURIE, such as MONDO:0005267.
// columns: template
MATCH (x:Concept)-[:SUBCLASS_OF*0..12]->(a:Concept)
WHERE a.build = $build AND a.id = $ancestor
WITH DISTINCT x
MATCH (c:Code)-[:MAPS_TO|IN_TREE]->(x)
WITH DISTINCT c
MATCH (r:Relation)-[:HEAD|TAIL]->(c)
MATCH (t:Template)-[:ASSERTS]->(r)
RETURN DISTINCT t.id AS template
ORDER BY template
