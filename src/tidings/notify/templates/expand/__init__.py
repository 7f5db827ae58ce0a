"""Puts a text together out of its layout, its partials and its strings, and remembers where each line came from."""
