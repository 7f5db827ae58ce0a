"""Chance that falls the same way for the same seed."""

import random


def dice(seed: int, *what: object) -> random.Random:
    """Dice for one thing; those of another thing fall on their own."""
    return random.Random(":".join(map(str, (seed, *what))))  # noqa: S311  # nobody is to be kept from guessing
