"""Properties: the hotels, schools and houses whose work the back office shows, and which of them an operator may see."""
