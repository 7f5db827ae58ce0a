"""Faults on demand: how the stand-in misbehaves, how often, and for how long."""

import random
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from tidings.kernel.clock import Clock

Adapter = Literal["smtp", "http", "smpp", "receiver", "property"]
Mode = Literal[
    "reject_permanent",
    "reject_temporary",
    "throttle",
    "hang",
    "close",
    "garbage",
    "slow",
    "error",
    "gone",
    "redirect",
    "wrong_schema",
]
#: Answers of a receiver of webhooks that no vendor gives.
RECEIVER_MODES: Final = frozenset({"error", "gone", "redirect"})
#: Modes of an upstream service of the back office.
PROPERTY_MODES: Final = frozenset({"slow", "hang", "close", "garbage", "throttle", "error", "wrong_schema"})
#: Modes that hold an answer back: there `seconds` says for how long.
_HELD_BACK = frozenset({"hang", "slow"})
_SLOW_SECONDS = 1.0


class FaultSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A fault as it is asked for."""

    adapter: Adapter
    mode: Mode
    #: Over HTTP: only the vendor of this name; of receivers and upstream services: only the one of this name; all where it is left out.
    vendor: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    #: The share of messages that it hits.
    rate: Annotated[float, Meta(ge=0.0, le=1.0)] = 1.0
    #: So many messages, then it is over.
    count: Annotated[int, Meta(ge=1, le=1_000_000_000)] | None = None
    #: So long, then it is over; for `slow` and `hang` also how long one answer is held back.
    seconds: Annotated[float, Meta(gt=0, le=86400)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultEffect:
    """What happens to one message."""

    mode: Mode
    #: How long its answer is held back; None: for ever.
    delay: float | None
    #: Whole seconds after which it is worth trying again.
    retry_after: int


class _Standing:
    __slots__ = ("left", "until", "wish")

    def __init__(self, wish: FaultSpec, now: float) -> None:
        self.wish = wish
        self.left = wish.count
        # With a count, `slow` and `hang` last until it is used up, and `seconds` is only the delay.
        timed = wish.seconds is not None and not (wish.count is not None and wish.mode in _HELD_BACK)
        self.until = now + (wish.seconds or 0) if timed else None


class Faults:
    """The faults that are in force, at most one of each mode for an adapter or one of its vendors."""

    def __init__(self, clock: Clock, *, seed: int | None = None) -> None:
        self._clock = clock
        self._random = random.Random(seed)  # noqa: S311  # which message is hit is no secret
        self._standing: dict[tuple[str, str | None, str], _Standing] = {}

    def set(self, wish: FaultSpec) -> None:
        """Put it in force; it takes the place of one with the same adapter, vendor and mode."""
        self._standing[wish.adapter, wish.vendor, wish.mode] = _Standing(wish, self._clock.monotonic())

    def clear(self, adapter: str | None = None, vendor: str | None = None) -> None:
        """All is well again, or those of one adapter or vendor are over."""
        for key in list(self._standing):
            if adapter in (None, key[0]) and vendor in (None, key[1]):
                del self._standing[key]

    def standing(self, adapter: str | None = None) -> list[FaultSpec]:
        """What is in force, with what is left of it; of one adapter, where it is named."""
        self._forget_past()
        return [
            msgspec.structs.replace(one.wish, count=one.left)
            for one in self._standing.values()
            if adapter in (None, one.wish.adapter)
        ]

    def strike(self, adapter: str, vendor: str | None = None) -> FaultEffect | None:
        """What happens to the message that has just come."""
        if not self._standing:
            return None
        self._forget_past()
        for key, standing in list(self._standing.items()):
            wish = standing.wish
            if wish.adapter != adapter or wish.vendor not in (None, vendor):
                continue
            if wish.rate < 1 and self._random.random() >= wish.rate:
                continue
            if standing.left is not None:
                standing.left -= 1
                if standing.left == 0:
                    del self._standing[key]
            return self._fault(standing)
        return None

    def _fault(self, standing: _Standing) -> FaultEffect:
        wish = standing.wish
        left = standing.until - self._clock.monotonic() if standing.until is not None else wish.seconds or 1
        usual = _SLOW_SECONDS if wish.mode == "slow" else None
        return FaultEffect(mode=wish.mode, delay=wish.seconds or usual, retry_after=max(1, round(left)))

    def _forget_past(self) -> None:
        now = self._clock.monotonic()
        for key in [k for k, s in self._standing.items() if s.until is not None and s.until <= now]:
            del self._standing[key]
