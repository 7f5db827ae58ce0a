"""Limits in Postgres: rows are locked in one order, decided on in Python, written back as a set.

Two statements in one transaction, however many keys. Exact because a key's row is locked from the reading
to the commit; the arithmetic is `kernel.limit_windows`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, Tx
from tidings.kernel.errors import BadValueError
from tidings.kernel.hot_state import Take, Taken
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import Absorbed, Limit, LimitState, Verdict, from_micros, to_micros
from tidings.kernel.local_hot_state.leases import checked_key
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)


class PostgresLimits:
    """Counts exactly, across processes."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def take(self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]) -> list[Taken]:
        """Decide group by group in the order given, as one step that others see whole."""
        keys = sorted({stored_key(take) for group in groups for take in group})
        if not keys:
            return [Taken(granted=True) for _ in groups]
        async with self._db.scoped(tenant_id) as tx:
            now = self._clock.now()
            rows = await tx.fetch(_QUERIES.lock_limits, keys=keys, now=now)
            states = {row["key"]: LimitState(tuple(row["moments"]), tuple(row["amounts"])) for row in rows}
            taken, changed = decide(groups, states, to_micros(now))
            if changed:
                await _put(tx, tenant_id, changed)
        return taken

    async def absorb(
        self, tenant_id: TenantId | None, taken: Mapping[str, tuple[Limit, Mapping[int, int]]]
    ) -> None:
        """Add what was taken elsewhere: for each stored key its limit, and amounts by moment in microseconds."""
        async with self._db.scoped(tenant_id) as tx:
            now = self._clock.now()
            rows = await tx.fetch(_QUERIES.lock_limits, keys=sorted(taken), now=now)
            changed: dict[str, Absorbed] = {}
            for row in rows:
                limit, amounts = taken[row["key"]]
                state = LimitState(tuple(row["moments"]), tuple(row["amounts"]))
                absorbed = limit.absorb(state, amounts, to_micros(now))
                if absorbed is not None:
                    changed[row["key"]] = absorbed
            if changed:
                await _put(tx, tenant_id, changed)

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


async def _put(tx: Tx, tenant_id: TenantId | None, changed: Mapping[str, Verdict | Absorbed]) -> None:
    await tx.execute(
        _QUERIES.put_limits,
        tenant_id=tenant_id,
        keys=list(changed),
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
