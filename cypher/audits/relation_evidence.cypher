// title: All evidence of one relation
// purpose: Read why a relation holds, or does not: every path, definition, coding rule and statistic.
// param: build string default  The build to ask.
// param: relation string ''  The relation's id, as in relations.parquet.
// columns: evidence, kind, polarity, weight, text, source, origin
MATCH (r:Relation)-[b:BACKED_BY]->(e:Evidence)
WHERE r.build = $build AND r.id = $relation
RETURN e.id AS evidence, e.kind AS kind, b.polarity AS polarity, e.weight AS weight,
       e.text AS text, e.source AS source, e.origin AS origin
ORDER BY kind, polarity, coalesce(e.weight, 0.0) DESC, evidence
