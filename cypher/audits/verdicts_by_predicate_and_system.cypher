// title: Verdicts by predicate and code system
// purpose: See where verification works and where it does not, by what is stated and by which codes state it.
// param: build string default  The build to ask.
// columns: predicate, head_system, tail_system, verdict, relations, mean_score
MATCH (r:Relation)
WHERE r.build = $build
WITH r.predicate AS predicate, r.verdict AS verdict, r.score AS score,
     CASE WHEN r.head STARTS WITH 'ICD10CM:' THEN 'ICD10CM'
            WHEN r.head STARTS WITH 'ICD9CM:' THEN 'ICD9CM'
            WHEN r.head STARTS WITH 'DRUGNAME:' THEN 'DRUGNAME'
            WHEN r.head STARTS WITH 'ICD10PCS:' THEN 'ICD10PCS'
            WHEN r.head STARTS WITH 'ICD9PROC:' THEN 'ICD9PROC'
            ELSE 'other' END AS head_system,
     CASE WHEN r.tail STARTS WITH 'ICD10CM:' THEN 'ICD10CM'
            WHEN r.tail STARTS WITH 'ICD9CM:' THEN 'ICD9CM'
            WHEN r.tail STARTS WITH 'DRUGNAME:' THEN 'DRUGNAME'
            WHEN r.tail STARTS WITH 'ICD10PCS:' THEN 'ICD10PCS'
            WHEN r.tail STARTS WITH 'ICD9PROC:' THEN 'ICD9PROC'
            ELSE 'other' END AS tail_system
RETURN predicate, head_system, tail_system, verdict, count(*) AS relations,
       round(avg(score), 4) AS mean_score
ORDER BY predicate, head_system, tail_system, verdict
