// title: The same two concepts with different verdicts
// purpose: One claim, written in several codes, is held true in one and not in another: see what differs between the links.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: head_concept, predicate, tail_concept, route, relations, verdicts, supported
MATCH (r:Relation)
WHERE r.build = $build AND r.head_concept <> '' AND r.tail_concept <> ''
WITH r.head_concept AS head_concept, r.predicate AS predicate, r.tail_concept AS tail_concept,
     r.route AS route, count(*) AS relations, count(DISTINCT r.verdict) AS verdicts,
     count(CASE WHEN r.verdict = 'supported' THEN 1 END) AS supported
WHERE verdicts > 1
RETURN head_concept, predicate, tail_concept, route, relations, verdicts, supported
ORDER BY relations DESC, head_concept, predicate, tail_concept, route
LIMIT $limit
