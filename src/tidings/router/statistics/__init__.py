"""How sending went: rolled up from the history of executions, and shown by the hour or the day."""
