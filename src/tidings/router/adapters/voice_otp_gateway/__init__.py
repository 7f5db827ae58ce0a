"""Voice one-time passwords, through an operator's own gateway."""
