"""Templates and their distractors, put into words and rows."""
