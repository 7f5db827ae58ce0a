"""Pages of what an AI suggests."""
