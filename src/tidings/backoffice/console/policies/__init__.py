"""Ladders in the console: the policies of a tenant, an editor with a picture, a simulator, versions."""
