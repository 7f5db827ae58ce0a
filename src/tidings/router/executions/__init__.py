"""Ladders being climbed: begun with the hand-off, carried on by any living worker, ended once."""
