"""Pages on categories: kinds of messages and their rules."""
