"""The audit in the console: all three logs, and whether they are as they were written."""
