"""Inboxes that wait to be read, tenant by tenant in turn: one with ten thousand of them holds up no other."""

from collections import OrderedDict

from tidings.kernel.ids import TenantId
from tidings.notify.inbox.model import InboxKey


class WaitingInboxes:
    """Each waits once, however often it is put."""

    def __init__(self) -> None:
        self._by_tenant: OrderedDict[TenantId, dict[InboxKey, None]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._by_tenant)

    def put(self, key: InboxKey) -> None:
        """Let it wait, behind its tenant's others."""
        self._by_tenant.setdefault(key.tenant_id, {})[key] = None

    def take(self, most: int) -> list[InboxKey]:
        """The next ones: of every tenant as many as of any other, as far as it has them."""
        taken: list[InboxKey] = []
        while self._by_tenant and len(taken) < most:
            share = max(1, (most - len(taken)) // len(self._by_tenant))
            for _ in range(len(self._by_tenant)):
                tenant_id, mine = self._by_tenant.popitem(last=False)
                some = list(mine)[: min(share, most - len(taken))]
                taken += some
                for key in some:
                    del mine[key]
                if mine:
                    self._by_tenant[tenant_id] = mine
                if len(taken) >= most:
                    break
        return taken
