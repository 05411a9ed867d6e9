// title: Supported relations that rest on one source, with its licence and reliability
// purpose: See what falls when one source is withdrawn, relicensed or found unreliable; the least reliable source first.
// param: build string default  The build to ask.
// param: source string ''  Only relations that rest on this source; any by default.
// param: limit integer 50  How many to show.
// columns: source, licence, reliability, relation, head, predicate, tail, origins, score
MATCH (r:Relation)
WHERE r.build = $build AND r.verdict = 'supported' AND size(r.sources) = 1
UNWIND r.sources AS source
WITH r, source
WHERE $source = '' OR source = $source
MATCH (s:Source)
WHERE s.build = $build AND s.id = source
RETURN source, s.licence AS licence, s.reliability AS reliability, r.id AS relation,
       r.head AS head, r.predicate AS predicate, r.tail AS tail, r.origins AS origins,
       r.score AS score
ORDER BY coalesce(s.reliability, 0.0), score DESC, relation
LIMIT $limit
