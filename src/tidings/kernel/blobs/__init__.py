"""What is too large for a row."""
