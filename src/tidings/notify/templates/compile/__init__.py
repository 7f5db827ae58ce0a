"""Compiling at publish: expressions become tokens, the tools work on plain markup, the expressions come back."""
