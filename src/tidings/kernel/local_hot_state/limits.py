"""Limits in Postgres: rows are locked in one order, decided on in Python, written back as a set.

Two statements in one transaction, however many keys. Exact because a key's row is locked from the reading
to the commit; the arithmetic is `kernel.limit_windows`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Final, TypeVar

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, Tx
from tidings.kernel.errors import BadValueError, DatabaseBusyError
from tidings.kernel.hot_state import Take, Taken, TenantTakes, by_tenant
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import Absorbed, Limit, LimitState, Verdict, from_micros, to_micros
from tidings.kernel.local_hot_state.leases import checked_key
from tidings.kernel.logs import get_logger, why
from tidings.kernel.mapping import tuple_columns
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)
#: Tenants that are asked for side by side, where a set of them found a locked row.
_AT_ONCE: Final = 4
#: When a tenant whose row stays locked is to ask again.
_LATER: Final = timedelta(seconds=1)
_log = get_logger("limits")
#: None: the platform.
OwnerT = TypeVar("OwnerT", TenantId, TenantId | None)


class PostgresLimits:
    """Counts exactly, across processes."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def take(self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]) -> list[Taken]:
        """Decide group by group in the order given, as one step that others see whole."""
        return (await self._take(self._db.scoped(tenant_id), {tenant_id: groups}))[tenant_id]

    async def take_of(self, wishes: Sequence[TenantTakes]) -> list[Taken]:
        """The same for groups of several tenants; each tenant's are a step of their own.

        A tenant whose row is locked by another for long is refused, and may ask again in a second: nobody waits for it.
        """
        places = by_tenant(wishes)
        asked = {tenant_id: [wishes[place][1] for place in places[tenant_id]] for tenant_id in sorted(places)}
        try:
            taken = await self._take(self._db.tenants(asked, briefly=True), asked)
        except DatabaseBusyError:
            # Of some tenant a row is locked: no other one waits for it.
            each = await asyncio.gather(*(self._take_alone(*one) for one in asked.items()))
            taken = dict(zip(asked, each, strict=True))
        answers = {
            place: one
            for tenant_id, its in taken.items()
            for place, one in zip(places[tenant_id], its, strict=True)
        }
        return [answers[place] for place in range(len(wishes))]

    async def _take_alone(self, tenant_id: TenantId, groups: Sequence[Sequence[Take]]) -> list[Taken]:
        async with self._slots:
            try:
                alone = self._db.tenants([tenant_id], briefly=True)
                return (await self._take(alone, {tenant_id: groups}))[tenant_id]
            except DatabaseBusyError as error:
                _log.warning("limits_not_asked", tenant_id=tenant_id, **why(error))
        later = self._clock.now() + _LATER
        return [Taken(granted=False, retry_at=later) if group else Taken(granted=True) for group in groups]

    async def _take(
        self, transaction: AbstractAsyncContextManager[Tx], asked: Mapping[OwnerT, Sequence[Sequence[Take]]]
    ) -> dict[OwnerT, list[Taken]]:
        keys = sorted(
            {
                (owner, stored_key(take))
                for owner, groups in asked.items()
                for group in groups
                for take in group
            },
            key=lambda one: (one[0] or "", one[1]),
        )
        if not keys:
            return {owner: [Taken(granted=True) for _ in groups] for owner, groups in asked.items()}
        async with transaction as tx:
            now = self._clock.now()
            rows = await tx.fetch(_QUERIES.lock_limits, **tuple_columns(keys, "tenant_ids keys"), now=now)
            states: dict[OwnerT, dict[str, LimitState]] = {owner: {} for owner in asked}
            for row in rows:
                states[row["tenant_id"]][row["key"]] = LimitState(
                    tuple(row["moments"]), tuple(row["amounts"])
                )
            taken: dict[OwnerT, list[Taken]] = {}
            changed: dict[tuple[OwnerT, str], Verdict] = {}
            for owner, groups in asked.items():
                taken[owner], its = decide(groups, states[owner], to_micros(now))
                changed.update(((owner, key), verdict) for key, verdict in its.items())
            if changed:
                await _put(tx, changed)
        return taken

    async def absorb(
        self, tenant_id: TenantId | None, taken: Mapping[str, tuple[Limit, Mapping[int, int]]]
    ) -> None:
        """Add what was taken elsewhere: for each stored key its limit, and amounts by moment in microseconds."""
        async with self._db.scoped(tenant_id) as tx:
            now = self._clock.now()
            owners = [tenant_id] * len(taken)
            rows = await tx.fetch(_QUERIES.lock_limits, tenant_ids=owners, keys=sorted(taken), now=now)
            changed: dict[tuple[TenantId | None, str], Absorbed] = {}
            for row in rows:
                limit, amounts = taken[row["key"]]
                state = LimitState(tuple(row["moments"]), tuple(row["amounts"]))
                absorbed = limit.absorb(state, amounts, to_micros(now))
                if absorbed is not None:
                    changed[tenant_id, row["key"]] = absorbed
            if changed:
                await _put(tx, changed)

    async def read(
        self, tenant_id: TenantId | None, keys: Sequence[str]
    ) -> dict[str, tuple[LimitState, datetime]]:
        """The states of those stored keys that still mean something, and until when."""
        async with self._db.scoped(tenant_id) as tx:
            rows = await tx.fetch(_QUERIES.read_limits, keys=list(keys), now=self._clock.now())
        return {
            row["key"]: (LimitState(tuple(row["moments"]), tuple(row["amounts"])), row["expires_at"])
            for row in rows
        }


async def _put(tx: Tx, changed: Mapping[tuple[OwnerT, str], Verdict | Absorbed]) -> None:
    await tx.execute(
        _QUERIES.put_limits,
        **tuple_columns(changed, "tenant_ids keys"),
        moments=[_list(after.state.moments) for after in changed.values()],
        amounts=[_list(after.state.amounts) for after in changed.values()],
        expires_at=[from_micros(after.expires_at) for after in changed.values()],
    )


def decide(
    groups: Sequence[Sequence[Take]], states: dict[str, LimitState], now: int
) -> tuple[list[Taken], dict[str, Verdict]]:
    """What each group gets, and the last verdict on every key that changed; `states` is used up."""
    taken: list[Taken] = []
    changed: dict[str, Verdict] = {}
    for group in groups:
        verdicts: dict[str, Verdict] = {}
        refused: list[tuple[str, int | None]] = []
        for take in group:
            key = stored_key(take)
            state = verdicts[key].state if key in verdicts else states[key]
            verdict = take.limit.ask(state, take.amount, now)
            if verdict.granted:
                verdicts[key] = verdict
            else:
                refused.append((take.key, verdict.retry_at))
        if refused:
            taken.append(
                Taken(
                    granted=False,
                    refused_by=tuple(dict.fromkeys(key for key, _ in refused)),
                    retry_at=_latest([retry_at for _, retry_at in refused]),
                )
            )
            continue
        for key, verdict in verdicts.items():
            states[key] = verdict.state
            changed[key] = verdict
        taken.append(Taken(granted=True))
    return taken, changed


def _latest(moments: list[int | None]) -> datetime | None:
    known = [moment for moment in moments if moment is not None]
    return from_micros(max(known)) if len(known) == len(moments) else None


def stored_key(take: Take) -> str:
    """What its state is kept under."""
    # The kind is part of the key: a limit whose window was changed starts anew instead of misreading.
    if take.amount < 0:
        raise BadValueError("amount", "must not be negative")
    return f"{take.limit.kind}:{checked_key(take.key)}"


def _list(numbers: tuple[int, ...]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"
