"""Recipients: who can be written to, where, and what they want."""
