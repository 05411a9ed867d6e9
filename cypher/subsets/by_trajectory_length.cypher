// title: Questions by the visits that came before
// purpose: Cut by how long the patient's record is at the visit that is asked about, that visit included.
// param: build string default  The build to ask.
// param: least integer 2  Least number of visits.
// param: most integer 1000  Greatest number of visits.
// columns: template
MATCH (t:Template)-[:AT]->(v:Visit)
WHERE t.build = $build AND v.ordinal >= $least AND v.ordinal <= $most
RETURN DISTINCT t.id AS template
ORDER BY template
