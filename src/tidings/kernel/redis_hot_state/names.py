"""What keys are called in Redis."""

from dataclasses import dataclass

from tidings.kernel.ids import TenantId
from tidings.kernel.local_hot_state.scope import checked_key


@dataclass(frozen=True, slots=True)
class Names:
    """Names of one epoch: what was written in another is never read, and runs out by itself."""

    epoch: int = 0

    def of(self, tenant_id: TenantId | None, sort: str, key: str) -> str:
        """A tenant's keys share a hash tag, so that a cluster keeps them in one place and a script may touch many."""
        return f"tidings:{self.epoch}:{{{tenant_id or 'platform'}}}:{sort}:{checked_key(key)}"
