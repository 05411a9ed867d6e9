"""A finished benchmark in the hand: read, cut, counted, joined, compared."""
