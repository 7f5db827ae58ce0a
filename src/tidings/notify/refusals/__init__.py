"""Refusals: what people said no to from a mailbox, by its address."""
