"""Ladders being climbed: begun with the hand-off, carried on by whoever is alive, ended once."""
