"""Lets only those keys through whose id exists; whether ids exist is asked in sets."""

from collections.abc import Collection, Sequence

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.http.callers import Authenticator, Caller
from tidings.kernel.known_ids import KnownIds
from tidings.kernel.refusals import UnauthenticatedError
from tidings.kernel.sql import Queries
from tidings.notify.access.authenticate import UNKNOWN
from tidings.notify.access.model import hash_secret, read_credential

QUERIES = Queries.beside(__file__)


class KnownKeys:
    """In front of the authenticator, which reads keys one by one."""

    def __init__(self, keys: Authenticator, db: Database, *, clock: Clock) -> None:
        self._keys = keys
        self._db = db
        self._ids = KnownIds(self._find, clock=clock)

    async def authenticate(self, credential: str) -> Caller:
        """The caller with this key."""
        read = read_credential(credential)
        if read is not None and not await self._ids.has(read[0]):
            # The same work as for a key that exists.
            hash_secret(read[1])
            raise UnauthenticatedError(UNKNOWN)
        return await self._keys.authenticate(credential)

    async def _find(self, ids: Sequence[str]) -> Collection[str]:
        async with self._db.platform() as tx:
            return [row["id"] for row in await tx.fetch(QUERIES.find_known_ids, ids=list(ids))]
