// title: Questions of first visits, or of later ones
// purpose: Tell what a model does without a history from what it does with one.
// param: build string default  The build to ask.
// param: first boolean true  First visits; false: later ones.
// columns: template
MATCH (t:Template)-[:AT]->(v:Visit)
WHERE t.build = $build AND EXISTS { MATCH (:Visit)-[:NEXT]->(v) } <> $first
RETURN DISTINCT t.id AS template
ORDER BY template
