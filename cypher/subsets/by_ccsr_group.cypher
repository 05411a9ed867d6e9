// title: Questions of a CCSR group
// purpose: Cut by a clinical classification group that both ICD versions share, such as CIR019 (heart failure).
// param: build string default  The build to ask.
// param: ccsr string CIR019  The CCSR group.
// columns: template
MATCH (c:Code)
WHERE c.build = $build AND $ccsr IN c.ccsr
MATCH (r:Relation)-[:HEAD|TAIL]->(c)
MATCH (t:Template)-[:ASSERTS]->(r)
RETURN DISTINCT t.id AS template
ORDER BY template
