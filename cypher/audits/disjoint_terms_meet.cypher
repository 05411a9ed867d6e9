// title: Terms that an ontology keeps apart and that meet all the same
// purpose: What is disjoint can't share a term below it, or stand one below the other (no shared term is named then): a parent or the axiom is wrong.
// param: build string default  The build to ask.
// columns: one, one_name, other, other_name, shared, source
MATCH (a:Concept)-[d:DISJOINT_WITH]->(b:Concept)
WHERE a.build = $build AND NOT d.negated
MATCH (s:Concept)-[:SUBCLASS_OF]->(a)
MATCH (s)-[:SUBCLASS_OF]->(b)
RETURN DISTINCT a.id AS one, a.name AS one_name, b.id AS other, b.name AS other_name,
       s.id AS shared, d.source AS source
UNION ALL
MATCH (a:Concept)-[d:DISJOINT_WITH]->(b:Concept)
WHERE a.build = $build AND NOT d.negated
MATCH (a)-[:SUBCLASS_OF]->(b)
RETURN DISTINCT a.id AS one, a.name AS one_name, b.id AS other, b.name AS other_name,
       '' AS shared, d.source AS source
UNION ALL
MATCH (a:Concept)-[d:DISJOINT_WITH]->(b:Concept)
WHERE a.build = $build AND NOT d.negated
MATCH (b)-[:SUBCLASS_OF]->(a)
RETURN DISTINCT a.id AS one, a.name AS one_name, b.id AS other, b.name AS other_name,
       '' AS shared, d.source AS source
