"""The ladder as it is frozen at the start, and read again later."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from tidings.contracts.delivery import Route
from tidings.router.channel_configs.store import StoredAccount
from tidings.router.ladder.model import Past, Step

_encode = msgspec.json.Encoder().encode
_decode_steps = msgspec.json.Decoder(tuple[Step, ...]).decode
_decode_past = msgspec.json.Decoder(tuple[Past, ...]).decode

#: No step has happened yet.
NO_PAST = "[]"


class Frozen(msgspec.Struct, frozen=True):
    """A ladder, its strategy and its JSON."""

    steps: tuple[Step, ...]
    strategy: str
    text: str


def freeze(routes: tuple[Route, ...], accounts: Mapping[str, StoredAccount]) -> Frozen:
    """The ladder of these routes; equal ones are made once."""
    return _frozen(
        tuple(
            (route.channel, route.vendor, account.id if (account := accounts.get(route.vendor)) else None)
            for route in routes
        )
    )


@lru_cache(maxsize=10_000)
def _frozen(ways: tuple[tuple[str, str, str | None], ...]) -> Frozen:
    steps = tuple(Step(channel=c, vendor=v, account=a) for c, v, a in ways)  # type: ignore[arg-type]
    return Frozen(steps, strategy_of(steps), _encode(steps).decode())


def strategy_of(steps: Sequence[Step]) -> str:
    """The next vendor of the same channel, or the next channel."""
    return "FAILOVER" if len({step.channel for step in steps}) <= 1 else "SEQUENTIAL"


@lru_cache(maxsize=10_000)
def steps_of(text: str) -> tuple[Step, ...]:
    """The ladder again."""
    return _decode_steps(text)


def past_text(past: Sequence[Past]) -> str:
    """What has happened, as it is kept in the row."""
    return _encode(past).decode()


def past_of(text: str) -> tuple[Past, ...]:
    """What has happened."""
    return () if text == NO_PAST else _decode_past(text)
