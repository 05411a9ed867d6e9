// title: Questions about patients of an age
// purpose: Cut by the age at the visit, in years; ages over 89 are kept as 91 in MIMIC-IV.
// param: build string default  The build to ask.
// param: least integer 65  Least age.
// param: most integer 200  Greatest age.
// columns: template
MATCH (t:Template)
WHERE t.build = $build AND t.age >= $least AND t.age <= $most
RETURN DISTINCT t.id AS template
ORDER BY template
