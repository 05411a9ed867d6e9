// title: Questions whose relation is strongly backed
// purpose: Keep what a strict reader grants: a high score, and path evidence of at least a given number.
// param: build string default  The build to ask.
// param: score float 0.7  Least score of the relation.
// param: paths integer 1  Least number of supporting paths.
// columns: template
MATCH (t:Template)-[:ASSERTS]->(r:Relation)
WHERE t.build = $build AND r.score >= $score AND r.n_path >= $paths
RETURN DISTINCT t.id AS template
ORDER BY template
