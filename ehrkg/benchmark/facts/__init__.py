"""What the rules ask of patients, visits and codes: kinds, names, kin, who can have what."""
