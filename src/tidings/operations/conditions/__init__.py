"""What the plumbing says of itself: processes and their jobs, outboxes and readers, partitions."""
