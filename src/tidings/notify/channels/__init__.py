"""Channels: how a tenant appears on a channel, and through which vendors."""
