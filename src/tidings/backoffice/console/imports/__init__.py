"""Files that are imported: sent, rehearsed, followed while they are read, and what was wrong with their lines."""
