"""Templates as files: the layout of a zip, its reading, its writing, and what becomes of it."""
