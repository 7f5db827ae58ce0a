"""A process that may die at every border of a transaction, and in a vendor's hands; and a database that stumbles."""

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from random import Random
from types import TracebackType
from typing import Any

from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.ids import TenantId


class Killed(BaseException):
    """The process is gone; nothing that runs in it catches this."""


class Fate:
    """Whether a process lives. One that is dead touches nothing any more."""

    def __init__(self, luck: Random, *, dies: float, stumbles: float) -> None:
        """How likely it dies at a border, and how likely the database is away for a moment there."""
        self.dead = False
        #: Others have taken it for dead.
        self.given_up = False
        self._luck = luck
        self._dies = dies
        self._stumbles = stumbles

    def touch(self) -> None:
        """Whoever is dead gets no further."""
        if self.dead:
            raise Killed

    def strike(self) -> None:
        """It may end here."""
        self.touch()
        if self._luck.random() < self._dies:
            self.dead = True
            raise Killed

    def border(self) -> None:
        """It may end here, or the database does not answer."""
        self.strike()
        if self._luck.random() < self._stumbles:
            raise DatabaseUnavailableError("it is away for a moment")


class MortalDatabase(Database):
    """The database as one process sees it."""

    def __init__(self, db: Database, fate: Fate) -> None:
        self._db = db
        self._fate = fate

    def tenant(self, tenant_id: TenantId, **how: Any) -> Any:
        """A transaction for one tenant."""
        return _Border(self._db.tenant(tenant_id, **how), self._fate)

    def tenants(self, tenant_ids: Iterable[TenantId], **how: Any) -> Any:
        """A transaction for a set of rows of several tenants."""
        return _Border(self._db.tenants(tenant_ids, **how), self._fate)

    def worker(self, **how: Any) -> Any:
        """A transaction of the worker role."""
        return _Border(self._db.worker(**how), self._fate)

    def platform(self, **how: Any) -> Any:
        """A transaction of the platform role."""
        return _Border(self._db.platform(**how), self._fate)


class _Border:
    """Something goes wrong before it begins, before it commits, or when it is committed and nobody learns of it."""

    def __init__(self, inner: AbstractAsyncContextManager[Any], fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    async def __aenter__(self) -> Any:
        self._fate.border()
        return await self._inner.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            try:
                self._fate.strike()
            except Killed as killed:
                await self._inner.__aexit__(Killed, killed, None)
                raise
        await self._inner.__aexit__(kind, error, trace)
        if kind is None:
            self._fate.border()
