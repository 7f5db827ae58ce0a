"""Limits in Redis: one script decides a whole set, with the same answers as Postgres."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import TypeAlias

import msgspec

from tidings.kernel.clock import Clock
from tidings.kernel.hot_state import Take, Taken, TenantTakes, take_side_by_side
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import (
    FixedWindow,
    Limit,
    LimitState,
    SlidingWindow,
    from_micros,
    micros,
    to_micros,
)
from tidings.kernel.local_hot_state.leases import checked_key
from tidings.kernel.local_hot_state.limits import stored_key
from tidings.kernel.redis_hot_state.scripts import LuaScript
from tidings.kernel.redis_hot_state.server import RedisServer

_TAKE = LuaScript.named("limits")
_FILL = LuaScript.named("limits_fill")
_NOTHING = msgspec.msgpack.encode({})
#: 0: granted; -2 and a moment for each take: granted then; otherwise when to come again (-1: never), and the places of
#: the takes without room.
_Answers: TypeAlias = list[int | list[int]]
_read_answers = msgspec.msgpack.Decoder(_Answers).decode
_read_places = msgspec.msgpack.Decoder(list[int]).decode


class MissingStatesError(Exception):
    """Some states are not in Redis, and nothing was taken."""

    def __init__(self, keys: Sequence[str]) -> None:
        super().__init__(f"{len(keys)} states are missing")
        #: As they are stored.
        self.keys = keys


@dataclass(frozen=True, slots=True)
class LimitsReply:
    """What came of a set."""

    taken: list[Taken]
    #: By the place of a group: the moment of each of its takes, where they are not the caller's own.
    moments: dict[int, list[int]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RedisLimits:
    """Counts exactly, across processes, in one epoch: what was written in another is never read, and expires by itself."""

    server: RedisServer
    clock: Clock
    _: KW_ONLY
    epoch: int = 0

    async def take(self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]) -> list[Taken]:
        """Decide group by group in the order given, as one step that others see whole."""
        return (await self.take_at(self.clock.now(), tenant_id, groups)).taken

    async def take_of(self, wishes: Sequence[TenantTakes]) -> list[Taken]:
        """The same for groups of several tenants."""
        return await take_side_by_side(self, wishes)

    async def take_at(
        self,
        now: datetime,
        tenant_id: TenantId | None,
        groups: Sequence[Sequence[Take]],
        *,
        elsewhere: Mapping[str, LimitState] | None = None,
    ) -> LimitsReply:
        """The same at a given time.

        `elsewhere`: what is known of states that may not have come to Redis yet. Where one is neither there nor here,
        a `MissingStatesError` names it.
        """
        places: dict[str, int] = {}
        wire = [
            [(places.setdefault(stored_key(take), len(places) + 1), *_shape(take.limit), take.amount) for take in group]
            for group in groups
        ]  # fmt: skip
        if not places:
            return LimitsReply([Taken(granted=True) for _ in groups], {})
        answer: bytes = await self.server.run(
            _TAKE,
            [self._name(tenant_id, key) for key in places],
            to_micros(now),
            msgspec.msgpack.encode(wire),
            "0" if elsewhere is None else "1",
            _NOTHING if not elsewhere else _by_place(places, elsewhere),
        )
        if answer[:1] == b"M":
            keys = list(places)
            raise MissingStatesError([keys[place - 1] for place in _read_places(answer[1:])])
        said = _read_answers(answer[1:])
        return LimitsReply(
            [_taken(group, one) for group, one in zip(groups, said, strict=True)],
            {number: one[1:] for number, one in enumerate(said) if isinstance(one, list) and one[0] == -2},
        )

    async def fill(
        self, tenant_id: TenantId | None, states: Sequence[tuple[str, LimitState, datetime]]
    ) -> None:
        """Bring states from elsewhere: key as stored, state, and when it means nothing any more."""
        now = to_micros(self.clock.now())
        arguments: list[bytes | int] = []
        for _, state, expires_at in states:
            arguments += [
                msgspec.msgpack.encode(_flat(state)),
                max(1, (to_micros(expires_at) - now) // 1000 + 10_000),
            ]
        await self.server.run(_FILL, [self._name(tenant_id, key) for key, _, _ in states], *arguments)

    def _name(self, tenant_id: TenantId | None, key: str) -> str:
        # A tenant's keys share a hash tag, so that a cluster keeps them in one place and a script may touch many.
        return f"tidings:{self.epoch}:{{{tenant_id or 'platform'}}}:limit:{checked_key(key)}"


def _shape(limit: Limit) -> tuple[int, int, int, int]:
    if isinstance(limit, FixedWindow):
        return 1, limit.limit, micros(limit.window), 0
    if isinstance(limit, SlidingWindow):
        return 2, limit.limit, micros(limit.window), 0
    return 3, limit.capacity, micros(limit.window), limit.refill


def _by_place(places: Mapping[str, int], states: Mapping[str, LimitState]) -> bytes:
    return msgspec.msgpack.encode(
        {places[key]: _flat(state) for key, state in states.items() if key in places}
    )


def _flat(state: LimitState) -> list[int]:
    return [number for pair in zip(state.moments, state.amounts, strict=True) for number in pair]


def _taken(group: Sequence[Take], said: int | list[int]) -> Taken:
    if isinstance(said, int) or said[0] == -2:
        return Taken(granted=True)
    retry_at, *refused = said
    return Taken(
        granted=False,
        refused_by=tuple(dict.fromkeys(group[place - 1].key for place in refused)),
        retry_at=None if retry_at == -1 else from_micros(retry_at),
    )
