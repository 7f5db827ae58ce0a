"""Events, commands and ports that cross a border between services."""
