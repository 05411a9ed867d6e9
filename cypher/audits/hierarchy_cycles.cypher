// title: Cycles in the hierarchy
// purpose: A term below itself makes every climb of the hierarchy wrong; cycles of up to four terms are shown.
// param: build string default  The build to ask.
// columns: length, concept, name, over
MATCH (a:Concept)-[:SUBCLASS_OF]->(b:Concept)
WHERE a.build = $build AND a.id = b.id
RETURN DISTINCT 1 AS length, a.id AS concept, a.name AS name, b.id AS over
UNION ALL
MATCH (a:Concept)-[:SUBCLASS_OF]->(b:Concept)
WHERE a.build = $build AND a.id < b.id
MATCH (b)-[:SUBCLASS_OF]->(a)
RETURN DISTINCT 2 AS length, a.id AS concept, a.name AS name, b.id AS over
UNION ALL
MATCH (a:Concept)-[:SUBCLASS_OF]->(b:Concept)
WHERE a.build = $build AND a.id < b.id
MATCH (b)-[:SUBCLASS_OF]->(c:Concept)
WHERE a.id < c.id AND b.id <> c.id
MATCH (c)-[:SUBCLASS_OF]->(a)
RETURN DISTINCT 3 AS length, a.id AS concept, a.name AS name, b.id AS over
UNION ALL
MATCH (a:Concept)-[:SUBCLASS_OF]->(b:Concept)
WHERE a.build = $build AND a.id < b.id
MATCH (b)-[:SUBCLASS_OF]->(c:Concept)
WHERE a.id < c.id AND b.id <> c.id
MATCH (c)-[:SUBCLASS_OF]->(d:Concept)
WHERE a.id < d.id AND d.id <> b.id AND d.id <> c.id
MATCH (d)-[:SUBCLASS_OF]->(a)
RETURN DISTINCT 4 AS length, a.id AS concept, a.name AS name, b.id AS over
