"""Pages on triggers and events: which event sends what, what one would do, and what came of those that were received."""
