// title: Questions and relations by age band and sex
// purpose: See who the benchmark is about: relations, templates and patients in each group.
// param: build string default  The build to ask.
// columns: predicate, age_band, sex, relations, templates, patients
MATCH (t:Template)
WHERE t.build = $build
RETURN t.predicate AS predicate, t.age_band AS age_band, t.sex AS sex,
       count(DISTINCT t.relation) AS relations, count(*) AS templates,
       count(DISTINCT t.patient) AS patients
ORDER BY predicate, age_band, sex
