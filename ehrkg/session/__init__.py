"""A session with a knowledge graph: its settings, its manifest, the object that notebooks use."""
