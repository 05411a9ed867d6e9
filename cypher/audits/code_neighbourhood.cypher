// title: A code's neighbourhood
// purpose: See all that one code touches: its concepts, their parents, and the relations it heads or ends.
// param: build string default  The build to ask.
// param: code string ''  The code, such as ICD10CM:I50.23.
// columns: how, predicate, other, name, detail
MATCH (c:Code)-[m:MAPS_TO]->(k:Concept)
WHERE c.build = $build AND c.id = $code
RETURN 'maps to' AS how, m.predicate AS predicate, k.id AS other, k.name AS name,
       m.method AS detail
UNION ALL
MATCH (x:Concept)-[s:SUBCLASS_OF]->(k:Concept)
WHERE x.build = $build
  AND EXISTS { MATCH (c:Code)-[:MAPS_TO|IN_TREE]->(x) WHERE c.id = $code }
RETURN 'is below' AS how, 'SUBCLASS_OF' AS predicate, k.id AS other, k.name AS name,
       s.source AS detail
UNION ALL
MATCH (c:Code)<-[:HEAD]-(r:Relation)
WHERE c.build = $build AND c.id = $code AND r.verdict <> 'unsupported'
MATCH (r)-[:TAIL]->(d:Code)
RETURN 'heads' AS how, r.predicate AS predicate, d.id AS other, d.name AS name,
       r.verdict AS detail
UNION ALL
MATCH (c:Code)<-[:TAIL]-(r:Relation)
WHERE c.build = $build AND c.id = $code AND r.verdict <> 'unsupported'
MATCH (r)-[:HEAD]->(d:Code)
RETURN 'ends' AS how, r.predicate AS predicate, d.id AS other, d.name AS name,
       r.verdict AS detail
