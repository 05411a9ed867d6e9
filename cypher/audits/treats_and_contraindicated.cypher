// title: Drugs both treating and contraindicated for one condition
// purpose: The knowledge contradicts itself, in the drug itself or through its class: routes, doses or a wrong statement.
// param: build string default  The build to ask.
// columns: drug, drug_name, condition, condition_name, through, treats_route, treats_source, against_source
MATCH (d:Concept)-[t:TREATS]->(x:Concept)
WHERE d.build = $build AND NOT t.negated
MATCH (d)-[c:CONTRAINDICATED_IN]->(x)
WHERE NOT c.negated
RETURN DISTINCT d.id AS drug, d.name AS drug_name, x.id AS condition, x.name AS condition_name,
       '' AS through, t.route AS treats_route, t.source AS treats_source,
       c.source AS against_source
UNION ALL
MATCH (d:Concept)-[t:TREATS]->(x:Concept)
WHERE d.build = $build AND NOT t.negated
MATCH (d)-[:SUBCLASS_OF]->(k:Concept)
WHERE k.id <> d.id
MATCH (k)-[c:CONTRAINDICATED_IN]->(x)
WHERE NOT c.negated
RETURN DISTINCT d.id AS drug, d.name AS drug_name, x.id AS condition, x.name AS condition_name,
       k.id AS through, t.route AS treats_route, t.source AS treats_source,
       c.source AS against_source
