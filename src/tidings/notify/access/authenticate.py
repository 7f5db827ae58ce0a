"""Knows callers by what they carry: an API key, or a token where those are set up."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from tidings.kernel.announced_changes import AnnouncedChanges, announced_sets
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.http.callers import Authenticator, Caller
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import UnauthenticatedError
from tidings.kernel.set_cache import SetCache
from tidings.notify.access import store
from tidings.notify.access.inbox_tokens import PREFIX
from tidings.notify.access.last_used import LastUsed
from tidings.notify.access.model import ApiKey, KeyState, hash_secret, read_credential
from tidings.notify.access.seals import KeySeals
from tidings.notify.ids import ApiKeyId

#: Below a second, so that a revocation counts within one even when the look-up takes a while.
REMEMBERED_SECONDS = 0.5
#: Keys of a tenant that are looked up before they are used.
_WARM_OF_A_TENANT: Final = 5

_log = get_logger("access")
UNKNOWN = "this API key is not known; check that it was copied whole"
_ENDED = {
    KeyState.REVOKED: "this API key was revoked",
    KeyState.EXPIRED: "this API key has expired or was replaced by its successor",
}


class KeyAuthenticator:
    """Looks API keys up by their id, remembers them for a moment, and compares secrets by their hashes."""

    def __init__(
        self,
        db: Database,
        *,
        clock: Clock,
        last_used: LastUsed,
        seals: KeySeals,
        on_broken_seal: Callable[[], object] | None = None,
        changes: AnnouncedChanges | None = None,
    ) -> None:
        self._db = db
        self._seals = seals
        self._on_broken_seal = on_broken_seal
        self._clock = clock
        self._last_used = last_used
        self._memory: SetCache[ApiKeyId, tuple[ApiKey, Caller] | None] = announced_sets(
            self._find,
            changes,
            "notification.api_keys",
            clock=clock,
            ttl=timedelta(seconds=REMEMBERED_SECONDS),
        )

    async def authenticate(self, credential: str) -> Caller:
        """The caller with this key."""
        read = read_credential(credential)
        if read is None:
            raise UnauthenticatedError(UNKNOWN)
        key_id, secret = read
        found = await self._memory.of(key_id)
        if found is None:
            # The same work as for a key that exists.
            hash_secret(secret)
            raise UnauthenticatedError(UNKNOWN)
        key, caller = found
        if not key.opened_by(secret):
            raise UnauthenticatedError(UNKNOWN)
        now = self._clock.now()
        if not key.usable(now):
            # Only the owner of the secret gets this far; it helps them alone.
            raise UnauthenticatedError(_ENDED[key.state(now)])
        self._last_used.note(key, now)
        return caller

    def forget(self, key_id: ApiKeyId) -> None:
        """This process just changed it: look it up anew."""
        self._memory.forget(key_id)

    async def warm_up(self, tenant_ids: Sequence[TenantId]) -> None:
        """Have the keys that these tenants used last in memory."""
        async with self._db.platform() as tx:
            key_ids = await store.find_used(tx, tenant_ids, of_a_tenant=_WARM_OF_A_TENANT)
        await self.find_known(key_ids)

    def remembers(self, key_id: ApiKeyId) -> bool:
        """Whether there is such a key, as far as that is known without looking it up."""
        return self._memory.get(key_id) is not None

    async def find_known(self, key_ids: Sequence[ApiKeyId]) -> list[ApiKeyId]:
        """Those that are keys, which are remembered; ids that are none take no room."""
        generation = self._memory.generation
        found = await self._find(key_ids)
        known = {key_id: one for key_id, one in found.items() if one is not None}
        for key_id, one in known.items():
            self._memory.put(key_id, one, generation=generation)
        return list(known)

    async def _find(self, key_ids: Sequence[ApiKeyId]) -> Mapping[ApiKeyId, tuple[ApiKey, Caller] | None]:
        """As the application wrote them; a row that was written or changed by another program is no key."""
        await self._seals.get_ready()
        found: dict[ApiKeyId, tuple[ApiKey, Caller] | None] = dict.fromkeys(key_ids)
        async with self._db.platform() as tx:
            keys = await store.find_any_keys(tx, key_ids)
        for key in keys:
            if await self._seals.holds(key):
                found[key.id] = key, key.caller()
                continue
            _log.error(
                "api_key_seal_broken", key_id=key.id, tenant_id=key.tenant_id, sealed=key.seal is not None
            )
            if self._on_broken_seal is not None:
                self._on_broken_seal()
        return found


class AnyAuthenticator:
    """API keys and inbox tokens by their form, everything else as a token."""

    def __init__(
        self, *, keys: Authenticator, tokens: Authenticator | None, people: Authenticator | None = None
    ) -> None:
        """`people`: those with inbox tokens."""
        self._keys = keys
        self._tokens = tokens
        self._people = people

    async def authenticate(self, credential: str) -> Caller:
        """The caller with this key or token."""
        if credential.startswith("tdk_"):
            return await self._keys.authenticate(credential)
        if self._people is not None and credential.startswith(PREFIX):
            return await self._people.authenticate(credential)
        if self._tokens is None:
            raise UnauthenticatedError("send an API key (tdk_…); tokens are not set up here")
        return await self._tokens.authenticate(credential)
