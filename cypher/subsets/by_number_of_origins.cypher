// title: Questions whose relation several origins state
// purpose: Keep what was stated independently: support counts origins, not files.
// param: build string default  The build to ask.
// param: origins integer 2  Least number of origins.
// columns: template
MATCH (t:Template)-[:ASSERTS]->(r:Relation)
WHERE t.build = $build AND size(r.origins) >= $origins
RETURN DISTINCT t.id AS template
ORDER BY template
