"""Pages on batches: the list, the builder with its live count, and how one is going."""
