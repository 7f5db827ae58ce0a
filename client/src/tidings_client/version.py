"""The version of the client. The server's is the same: they are released together."""

__version__ = "0.1.0.dev0"
