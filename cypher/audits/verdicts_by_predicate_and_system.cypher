// title: Verdicts by predicate and code system
// purpose: See where verification works and where it does not, by what is stated and by which codes state it.
// param: build string default  The build to ask.
// columns: predicate, head_system, tail_system, verdict, relations, mean_score
MATCH (r:Relation)-[:HEAD]->(h:Code|Concept)
WHERE r.build = $build
MATCH (r)-[:TAIL]->(d:Code|Concept)
RETURN r.predicate AS predicate, coalesce(h.system, 'concept') AS head_system,
       coalesce(d.system, 'concept') AS tail_system, r.verdict AS verdict, count(*) AS relations,
       round(avg(r.score), 4) AS mean_score
ORDER BY predicate, head_system, tail_system, verdict
