"""Lets only those keys through whose id exists; a flood of made-up ones takes no room among those that are remembered."""

from collections.abc import Collection, Sequence

from tidings.kernel.clock import Clock
from tidings.kernel.http.callers import Caller
from tidings.kernel.known_ids import KnownIds
from tidings.kernel.refusals import UnauthenticatedError
from tidings.notify.access.authenticate import UNKNOWN, KeyAuthenticator
from tidings.notify.access.model import hash_secret, read_credential
from tidings.notify.ids import ApiKeyId


class KnownKeys:
    """In front of the authenticator, which knows a key that was found here."""

    def __init__(self, keys: KeyAuthenticator, *, clock: Clock) -> None:
        self._keys = keys
        self._ids = KnownIds(self._find, clock=clock)

    async def authenticate(self, credential: str) -> Caller:
        """The caller with this key."""
        read = read_credential(credential)
        if read is not None and not (self._keys.remembers(read[0]) or await self._ids.has(read[0])):
            # The same work as for a key that exists.
            hash_secret(read[1])
            raise UnauthenticatedError(UNKNOWN)
        return await self._keys.authenticate(credential)

    async def _find(self, ids: Sequence[str]) -> Collection[str]:
        return await self._keys.find_known([ApiKeyId(one) for one in ids])
