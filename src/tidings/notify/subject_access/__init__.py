"""Subject access: everything that is held about a person, as one archive for them to keep."""
