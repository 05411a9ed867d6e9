// title: Concepts of one kind that share a name
// purpose: Two terms with one name are one thing counted twice, or two things nobody can tell apart; the trees of ICD, which repeat names, are left out.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: name, kind, concepts, first, last
MATCH (k:Concept)
WHERE k.build = $build AND coalesce(k.name, '') <> ''
  AND NOT k.id STARTS WITH 'ICD'
WITH toLower(k.name) AS name, k.kind AS kind, count(k) AS concepts, min(k.id) AS first,
     max(k.id) AS last
WHERE concepts > 1
RETURN name, kind, concepts, first, last
ORDER BY concepts DESC, name, kind
LIMIT $limit
