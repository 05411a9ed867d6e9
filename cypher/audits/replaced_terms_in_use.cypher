// title: Codes linked to terms that another one has replaced
// purpose: An obsolete term has no parents and no statements: the link should go to the term that replaces it.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: code, code_name, replaced, replaced_by, name, source
MATCH (c:Code)-[:MAPS_TO]->(old:Concept)
WHERE old.build = $build AND NOT coalesce(old.declared, false)
MATCH (new:Concept)-[m:EXACT_MATCH]->(old)
WHERE coalesce(new.declared, false)
RETURN DISTINCT c.id AS code, c.name AS code_name, old.id AS replaced, new.id AS replaced_by,
       new.name AS name, m.source AS source
ORDER BY code, replaced, replaced_by
LIMIT $limit
