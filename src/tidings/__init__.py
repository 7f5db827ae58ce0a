"""Tidings: a self-hosted, multi-tenant notification platform."""

__version__ = "0.1.0.dev0"
