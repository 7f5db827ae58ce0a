"""Operators: who they are, what they may, how they come and go."""
