// title: Questions that nothing speaks against
// purpose: Keep relations without a single piece of contradicting evidence.
// param: build string default  The build to ask.
// columns: template
MATCH (t:Template)-[:ASSERTS]->(r:Relation)
WHERE t.build = $build
  AND NOT EXISTS { MATCH (r)-[b:BACKED_BY]->(:Evidence) WHERE b.polarity = 'contradicts' }
RETURN DISTINCT t.id AS template
ORDER BY template
