// title: Questions without some patients
// purpose: Leave out patients who withdrew consent, or whom another data set holds too.
// param: build string default  The build to ask.
// param: patients strings ''  The patients' ids, separated by commas.
// columns: template
MATCH (p:Patient)-[:HAS_VISIT]->(v:Visit)
WHERE p.build = $build AND NOT p.id IN $patients
MATCH (t:Template)-[:AT]->(v)
RETURN DISTINCT t.id AS template
ORDER BY template
