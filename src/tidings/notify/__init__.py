"""What is said, to whom and when."""
