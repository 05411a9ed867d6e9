// title: Questions that stand without a source
// purpose: Keep what holds even if a source is left out: its relation does not depend on it.
// param: build string default  The build to ask.
// param: source string ''  The source to do without.
// columns: template
MATCH (t:Template)-[:ASSERTS]->(r:Relation)
WHERE t.build = $build AND NOT $source IN r.depends_on
RETURN DISTINCT t.id AS template
ORDER BY template
