// title: Supported relations whose sources copied from one another
// purpose: Several sources name the relation, but all go back to one origin; that is one support, not several.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: relation, head, predicate, tail, origin, sources, paths
MATCH (r:Relation)
WHERE r.build = $build AND r.verdict = 'supported' AND size(r.origins) = 1 AND size(r.sources) > 1
UNWIND r.origins AS origin
RETURN r.id AS relation, r.head AS head, r.predicate AS predicate, r.tail AS tail,
       origin, r.sources AS sources, r.n_path AS paths
ORDER BY size(r.sources) DESC, relation
LIMIT $limit
