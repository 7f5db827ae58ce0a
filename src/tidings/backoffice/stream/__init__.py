"""The one stream of a device: all that its operator may hear, as server-sent events that can be taken up where they ended."""
