"""Events that come in, and events that are heard outside."""
