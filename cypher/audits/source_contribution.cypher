// title: What each source contributes, and what it contributes alone
// purpose: Weigh the sources: the relations each supports, those that only it supports, and the questions that hang on these.
// param: build string default  The build to ask.
// columns: source, supports, supports_alone, questions, questions_alone
MATCH (r:Relation)
WHERE r.build = $build AND r.verdict = 'supported'
OPTIONAL MATCH (t:Template)-[:ASSERTS]->(r)
UNWIND r.sources AS source
RETURN source, count(DISTINCT r.id) AS supports,
       count(DISTINCT CASE WHEN size(r.sources) = 1 THEN r.id END) AS supports_alone,
       count(DISTINCT t.id) AS questions,
       count(DISTINCT CASE WHEN size(r.sources) = 1 THEN t.id END) AS questions_alone
ORDER BY supports DESC, source
