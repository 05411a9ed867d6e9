// title: Questions about a class of drugs
// purpose: Cut by an ATC class of any level: the drug is the answer or stands in the relation that is asked.
// param: build string default  The build to ask.
// param: class string ATC:C07  The ATC class, with its prefix.
// columns: template
MATCH (k:Concept)
WHERE k.build = $build AND k.id STARTS WITH $class
MATCH (d:Concept)-[:SUBCLASS_OF]->(k)
WITH DISTINCT d
MATCH (c:Code)-[:MAPS_TO]->(d)
WHERE c.kind = 'drug'
MATCH (r:Relation)-[:HEAD]->(c)
MATCH (t:Template)-[:ASSERTS]->(r)
RETURN DISTINCT t.id AS template
ORDER BY template
