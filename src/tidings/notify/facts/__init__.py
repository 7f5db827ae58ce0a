"""Facts: all that deciding needs to know, loaded for a whole set at once."""
