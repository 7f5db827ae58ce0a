"""The in-app inbox: what people find in the application itself, and what they do with it."""
