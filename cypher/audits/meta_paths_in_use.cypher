// title: Which kinds of path carry the verdicts
// purpose: See by which steps support and contradiction come about, and how much each weighs.
// param: build string default  The build to ask.
// columns: meta_path, polarity, predicate, relations, paths, mean_weight
MATCH (r:Relation)-[b:BACKED_BY]->(e:Evidence)
WHERE r.build = $build AND e.kind = 'path'
RETURN e.meta_path AS meta_path, b.polarity AS polarity, r.predicate AS predicate,
       count(DISTINCT r.id) AS relations, count(*) AS paths,
       round(avg(e.weight), 4) AS mean_weight
ORDER BY relations DESC, meta_path, polarity, predicate
