// title: Questions of one part of the patients
// purpose: Keep the patients of one part only: train, dev or test.
// param: build string default  The build to ask.
// param: split string test  The part.
// columns: template
MATCH (p:Patient)-[:HAS_VISIT]->(v:Visit)
WHERE p.build = $build AND p.split = $split
MATCH (t:Template)-[:AT]->(v)
RETURN DISTINCT t.id AS template
ORDER BY template
