// title: Strong associations that no path explains
// purpose: Both codes are linked and go together far beyond chance, yet the knowledge is silent: a gap, or a confounder.
// param: build string default  The build to ask.
// param: lift float 3  Least lift.
// param: patients integer 5  Least number of patients.
// param: limit integer 50  How many to show.
// columns: relation, head, head_concept, predicate, tail, tail_concept, lift, patients
MATCH (r:Relation)
WHERE r.build = $build AND r.verdict = 'unsupported' AND r.head_concept <> ''
  AND r.tail_concept <> '' AND r.n_path = 0 AND r.lift >= $lift AND r.n_patients >= $patients
RETURN r.id AS relation, r.head AS head, r.head_concept AS head_concept,
       r.predicate AS predicate, r.tail AS tail, r.tail_concept AS tail_concept, r.lift AS lift,
       r.n_patients AS patients
ORDER BY lift DESC, patients DESC, relation
LIMIT $limit
