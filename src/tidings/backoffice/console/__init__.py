"""The web console: pages that a browser shows without any script."""
