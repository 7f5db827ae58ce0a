"""What the router's parts share: policies, the accounts' settings, the guard against forbidden networks, the due timer."""

from typing import TYPE_CHECKING

from tidings.kernel.durable.wakeup import DueTimer
from tidings.router.adapters.egress import public_and
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.bounces.tokens import ReturnTokens
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.router.executions.history import StoredHistory
from tidings.router.metrics import RouterMetrics
from tidings.router.policies.policies import Policies
from tidings.settings import words

if TYPE_CHECKING:
    from tidings.bootstrap.kernel import KernelStage


class RouterStage:
    """Made before the parts that call vendors and hear from them."""

    def __init__(self, kernel: "KernelStage") -> None:
        db, clock = kernel.db, kernel.clock
        self.metrics = RouterMetrics(kernel.metrics)
        self.adapter_configs = AdapterConfigs(
            {kind.name: kind.channels for kind in ADAPTERS.values()}, audit=kernel.router_audit, clock=clock
        )
        self.policies = Policies(db, clock=clock)
        self.history = StoredHistory(clock)
        #: What return paths of mails carry.
        self.return_tokens = ReturnTokens(kernel.platform_pepper.get)
        #: Where adapters of tenants may connect to.
        self.tenant_guard = public_and(words(kernel.settings.channels.tenant_networks))
        #: When an execution of this process is due next.
        self.due_timer = DueTimer()
