// title: Questions of visits of some kinds
// purpose: Cut by how the patient came: elective, urgent, observation, as the hospital calls it.
// param: build string default  The build to ask.
// param: kinds strings URGENT,ELECTIVE  The kinds, separated by commas.
// columns: template
MATCH (t:Template)-[:AT]->(v:Visit)
WHERE t.build = $build AND v.kind IN $kinds
RETURN DISTINCT t.id AS template
ORDER BY template
