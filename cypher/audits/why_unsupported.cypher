// title: Why relations are unsupported
// purpose: Tell unlinked codes from silent knowledge: each reason, by predicate, with how many relations it stopped.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: predicate, reason, relations
MATCH (r:Relation)
WHERE r.build = $build AND r.verdict = 'unsupported'
UNWIND r.reasons AS reason
RETURN r.predicate AS predicate, reason, count(*) AS relations
ORDER BY relations DESC, predicate, reason
LIMIT $limit
