// title: Questions about women or about men
// purpose: Cut by the patient's sex, to see whether a model does as well for both.
// param: build string default  The build to ask.
// param: sex string F  F or M.
// columns: template
MATCH (p:Patient)-[:HAS_VISIT]->(v:Visit)
WHERE p.build = $build AND p.sex = $sex
MATCH (t:Template)-[:AT]->(v)
RETURN DISTINCT t.id AS template
ORDER BY template
