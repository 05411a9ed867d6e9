"""Drug strings: what kind of thing is ordered, and which ingredients it holds."""
