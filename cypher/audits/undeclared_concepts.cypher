// title: Concepts that statements name and no source declares
// purpose: A dangling CURIE has no name and no kind: a misspelt, obsolete or unloaded term.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: concept, statements
MATCH (k:Concept)
WHERE k.build = $build AND NOT coalesce(k.declared, false)
OPTIONAL MATCH (k)-[o:SUBCLASS_OF|TREATS|PREVENTS|CONTRAINDICATED_IN|CAUSES|PREDISPOSES_TO|HAS_PHENOTYPE|DIAGNOSES]->(:Concept)
WITH k, count(DISTINCT o.id) AS out
OPTIONAL MATCH (:Concept)-[i:SUBCLASS_OF|TREATS|PREVENTS|CONTRAINDICATED_IN|CAUSES|PREDISPOSES_TO|HAS_PHENOTYPE|DIAGNOSES]->(k)
WITH k, out, count(DISTINCT i.id) AS into
WITH k, out + into AS statements
WHERE statements > 0
RETURN k.id AS concept, statements
ORDER BY statements DESC, concept
LIMIT $limit
