"""Hosts that strangers name: how long one that hangs may be in the way of the others."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UntrustedHostLimits:
    """How much of a pool of connections one of them can have."""

    #: So long a request has its slot; then it waits for its answer beside, and the next one has its turn.
    hold_seconds: float = 0.5
    #: So many wait beside; while there are as many, slots are held.
    most_beside: int = 160
