// title: Relations asked in more than one part of the split
// purpose: A model that learned the relation on one part meets it again on the other; needed for a split by relation.
// param: build string default  The build to ask.
// param: limit integer 50  How many to show.
// columns: relation, head, predicate, tail, train, dev, test
MATCH (t:Template)-[:ASSERTS]->(r:Relation)
WHERE r.build = $build
WITH r, count(DISTINCT t.split) AS parts,
     count(CASE WHEN t.split = 'train' THEN 1 END) AS train,
     count(CASE WHEN t.split = 'dev' THEN 1 END) AS dev,
     count(CASE WHEN t.split = 'test' THEN 1 END) AS test
WHERE parts > 1
RETURN r.id AS relation, r.head AS head, r.predicate AS predicate, r.tail AS tail, train, dev,
       test
ORDER BY test DESC, train DESC, relation
LIMIT $limit
