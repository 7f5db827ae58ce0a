"""People who are written to: where they are reached, what they chose and consented to, and what they are owed."""
