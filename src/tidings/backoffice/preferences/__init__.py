"""How operators like to work: a mirror of their preferences, and which keys do what."""
