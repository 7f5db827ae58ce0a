"""Whoever watches an installation hears of what is wrong."""
