// title: Cited concepts without a definition
// purpose: Paths stand on these terms, but nobody can read what they mean, and no definition could speak for or against.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: concept, name, kind, relations
MATCH (r:Relation)-[:BACKED_BY]->(e:Evidence)-[:CITES]->(k:Concept)
WHERE r.build = $build AND e.kind = 'path' AND coalesce(k.definition, '') = ''
RETURN k.id AS concept, k.name AS name, k.kind AS kind, count(DISTINCT r.id) AS relations
ORDER BY relations DESC, concept
LIMIT $limit
