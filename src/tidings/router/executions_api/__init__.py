"""Executions for those who ask: how a message got there, or did not."""
