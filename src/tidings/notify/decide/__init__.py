"""Deciding: whether, when and to whom a notification goes; pure functions over loaded facts."""
