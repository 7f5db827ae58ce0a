"""Which of the striped counts each part of a process adds to."""

import os
from enum import IntEnum


class Stripe(IntEnum):
    """Who adds to which of the striped counts, so that two transactions of one process don't wait for each other."""

    ACCEPT = 0
    DISPATCH = 1
    OUTCOMES = 2
    CANCEL = 3
    ERASE = 4
    SPEND = 5
    RECEIPTS = 6
    VISITS = 7
    TRIGGERS = 8
    SCHEDULE = 9
    DIGESTS = 10
    BATCHES = 11
    INBOX = 12


def stripe(part: Stripe) -> int:
    return os.getpid() % 8 * len(Stripe) + part
