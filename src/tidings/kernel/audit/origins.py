"""What an audit row says about the request behind it: hashes of address and browser, and its trace.

The hashes are taken under the platform's pepper, which never leaves us, and are bound to the log's tenant: rows of one
tenant can be compared with each other, and with no other tenant's.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tidings.kernel.ids import TenantId
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.origin import current_origin


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedOrigin:
    """Where something came from, as far as it is kept."""

    ip_hash: str | None = None
    user_agent_hash: str | None = None
    trace_id: str | None = None


_NOWHERE = HashedOrigin()


class Origins:
    """Knows where what happens now comes from."""

    def __init__(self, load_pepper: Callable[[], Awaitable[Pepper]]) -> None:
        self._load_pepper = load_pepper
        self._pepper: Pepper | None = None

    async def get_ready(self) -> Pepper:
        """Load the pepper, at the start: an append has a connection already and should not ask for a second one."""
        if self._pepper is None:
            self._pepper = await self._load_pepper()
        return self._pepper

    async def now(self, tenant_id: TenantId | None) -> HashedOrigin:
        """For a row of that tenant, or of the platform; empty where no request is behind it."""
        origin = current_origin()
        if origin is None:
            return _NOWHERE
        pepper = await self.get_ready()

        def hashed(kind: str, value: str | None) -> str | None:
            # Begins as no address does, so that it can't be taken for one's hash.
            return pepper.hash(f"{kind}:{tenant_id or ''}:{value}") if value else None

        return HashedOrigin(
            ip_hash=hashed("ip", origin.client),
            user_agent_hash=hashed("user-agent", origin.user_agent),
            trace_id=origin.trace_id,
        )
