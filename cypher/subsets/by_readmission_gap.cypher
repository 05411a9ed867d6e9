// title: Prognosis questions by the days between the visits
// purpose: Cut by how long after discharge the patient came back.
// param: build string default  The build to ask.
// param: least integer 1  Least number of days.
// param: most integer 30  Greatest number of days.
// columns: template
MATCH (t:Template)-[:TARGET]->(v:Visit)
WHERE t.build = $build AND t.task = 'prognosis' AND v.gap_days >= $least AND v.gap_days <= $most
RETURN DISTINCT t.id AS template
ORDER BY template
