"""Messages to operators of the back office."""
