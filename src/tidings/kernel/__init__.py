"""Words and plumbing that every service shares; it knows nothing about notifications."""
