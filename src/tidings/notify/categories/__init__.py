"""Categories: the registry that says what kind of message may do what."""
