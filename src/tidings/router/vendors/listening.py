"""What a worker runs: keeps the connections open over which vendors speak by themselves, though nothing is sent."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.errors import TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger, why
from tidings.kernel.sql import Queries
from tidings.router.accounts.model import StoredAccount
from tidings.router.accounts.store import find_accounts
from tidings.router.vendors.open_adapters import OpenAdapters, UnusableError

QUERIES = Queries.beside(__file__)

_log = get_logger("vendors")
#: How long receipts are waited for on the connection of an account that was switched off: a message lives no longer.
_HEARD_AFTER = timedelta(days=3)
#: The owner of a platform's account, where a tenant is wanted.
_NOBODY = TenantId("")


@dataclass(frozen=True, slots=True)
class _Listening:
    """An account that is listened to."""

    version: int
    task: asyncio.Task[None]


async def accounts_across(db: Database, kinds: Sequence[str]) -> list[tuple[StoredAccount, TenantId]]:
    """Every account of these kinds of adapters, across tenants, with its owner."""
    if not kinds:
        return []
    async with db.worker() as tx:
        rows = await tx.fetch(QUERIES.find_listening, kinds=list(kinds))
    ids = {row["id"] for row in rows}
    found: list[tuple[StoredAccount, TenantId]] = []
    for owner in {row["tenant_id"] for row in rows}:
        async with db.scoped(owner) as tx:
            accounts = await find_accounts(tx)
        found += [(one, owner or _NOBODY) for one in accounts if one.id in ids]
    return list({account.id: (account, owner) for account, owner in found}.values())


class ListeningJob:
    """Listens to every account of a vendor that speaks over the adapter's own connection; any number of processes may.

    A connection is let go from time to time, so that one that was opened anew takes its place.
    """

    def __init__(
        self,
        db: Database,
        adapters: OpenAdapters,
        *,
        kinds: frozenset[str],
        clock: Clock,
        look_again: timedelta = timedelta(seconds=5),
    ) -> None:
        """`kinds` are the adapters that listen; new accounts are found after `look_again`."""
        self._db = db
        self._adapters = adapters
        self._kinds = sorted(kinds)
        self._clock = clock
        self._look_again = look_again.total_seconds()
        self._listening: dict[str, _Listening] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Listen until `stop`."""
        backoff = Backoff()
        try:
            while not stop.is_set():
                try:
                    await self._look()
                    seconds = self._look_again
                    backoff.after_success()
                except TidingsError as error:
                    seconds = backoff.after_failure()
                    _log.warning("accounts_not_looked_up", retry_seconds=seconds, **why(error))
                await wait_for_stop(stop, seconds)
        finally:
            tasks = [one.task for one in self._listening.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._listening.clear()

    async def _look(self) -> None:
        """Begin with those that are new or changed, end with those that are gone."""
        wanted = {account.id: (account, owner) for account, owner in await self._accounts()}
        for account_id, known in list(self._listening.items()):
            if (
                account_id not in wanted
                or wanted[account_id][0].version != known.version
                or known.task.done()
            ):
                known.task.cancel()
                del self._listening[account_id]
        for account_id, (account, owner) in wanted.items():
            if account_id not in self._listening:
                task = asyncio.create_task(self._listen(account, owner))
                self._listening[account_id] = _Listening(account.version, task)

    async def _accounts(self) -> list[tuple[StoredAccount, TenantId]]:
        return [one for one in await accounts_across(self._db, self._kinds) if self._speaks(one[0])]

    def _speaks(self, account: StoredAccount) -> bool:
        """One that was switched off may still tell of what went through it before; for a while."""
        if account.active or account.changed_at is None:
            return account.active
        return self._clock.now() - account.changed_at < _HEARD_AFTER

    async def _listen(self, account: StoredAccount, owner: TenantId) -> None:
        backoff = Backoff(first=0.5, longest=30.0)
        while True:
            try:
                async with self._adapters.borrow(account, owner):
                    # It connects by itself as soon as it is made, and stays open for as long as a task has it.
                    backoff.after_success()
                    await asyncio.sleep(self._look_again)
            except UnusableError as error:
                # The sending task hears it too; it is logged where it is opened.
                _log.info("account_not_listened_to", account_id=account.id, code=error.code)
                await self._clock.sleep(backoff.after_failure())
