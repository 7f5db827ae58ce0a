"""The ladder as it is frozen at the start, and where it stands, as they are kept in a row."""

from functools import lru_cache
from typing import Final

import msgspec

from tidings.router.ladder.model import Leg, Past, Position, Step, Strategy
from tidings.router.profiles.order import Why

_encode = msgspec.json.Encoder().encode
#: In a text with the reasons of an order, and in no other.
_WHY: Final = '"why":['


class Frozen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The steps in their order, and where the order comes from."""

    steps: tuple[Step, ...] = ()
    #: `fixed`, `learned` or `cheapest`, where a policy says so.
    order: str | None = None
    #: Why this order, step by step.
    why: tuple[Why, ...] = ()
    #: What a second of waiting cost when the order was learned, in micros.
    value_of_a_second: int | None = None
    #: What the message may cost, in micros.
    cap: int | None = None


class State(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a ladder stands."""

    legs: tuple[Leg, ...] = ()
    next: int = 1
    past: tuple[Past, ...] = ()
    again: tuple[int, ...] = ()


_decode_frozen = msgspec.json.Decoder(Frozen).decode
_decode_path = msgspec.json.Decoder(tuple[Past, ...]).decode
_decode_state = msgspec.json.Decoder(State).decode


def frozen_text(frozen: Frozen) -> str:
    """As it is kept; equal ones are written once. Where the order was learned no two are equal."""
    return _known_text(frozen) if not frozen.why else _encode(frozen).decode()


def frozen_of(text: str) -> Frozen:
    """The ladder again."""
    return _known_frozen(text) if _WHY not in text else _decode_frozen(text)


@lru_cache(maxsize=5_000)
def _known_text(frozen: Frozen) -> str:
    return _encode(frozen).decode()


@lru_cache(maxsize=5_000)
def _known_frozen(text: str) -> Frozen:
    return _decode_frozen(text)


def state_text(here: Position) -> str:
    """Where it stands, as it is kept."""
    return _encode(State(legs=here.legs, next=here.next, past=here.past, again=here.again)).decode()


def state_of(text: str) -> State:
    """Where it stands."""
    return _decode_state(text)


def path_text(past: tuple[Past, ...]) -> str:
    """What has happened, as history keeps it."""
    return _encode(past).decode()


def path_of(text: str) -> tuple[Past, ...]:
    """What has happened, as history has it."""
    return _decode_path(text)


def strategy_of(steps: tuple[Step, ...]) -> Strategy:
    """Without a policy: the next vendor of the same channel, or the next channel."""
    return "FAILOVER" if len({step.channel for step in steps}) <= 1 else "SEQUENTIAL"
