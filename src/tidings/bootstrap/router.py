"""What the router's parts share: policies, the accounts' settings, the guard against forbidden networks, the due timer."""

from secrets import SystemRandom
from typing import TYPE_CHECKING

from tidings.bootstrap import observers
from tidings.kernel.durable.retry_policy import RandomUnit
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.egress import Guard, public_and
from tidings.router.bounces.receive_bounce import BounceObserver
from tidings.router.bounces.tokens import ReturnTokens
from tidings.router.callbacks.model import CallbackObserver
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.router.conversations.model import ConversationObserver
from tidings.router.executions.history import StoredHistory
from tidings.router.executions.model import ExecutionObserver
from tidings.router.metrics import RouterMetrics
from tidings.router.policies.policies import Policies
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.traffic.observe import TrafficObserver
from tidings.router.vendors.built_in import SERVED
from tidings.settings import words

if TYPE_CHECKING:
    from tidings.bootstrap.kernel import KernelStage


class RouterStage:
    """Made before the parts that call vendors and hear from them."""

    def __init__(self, kernel: "KernelStage") -> None:
        #: The parts that the router's classes and handlers name in their signatures.
        self.parts = parts = kernel.service_parts(kernel.router_audit, kernel.router_outbox)
        self.metrics = metrics = parts.get(RouterMetrics)
        #: When an execution of this process is due next.
        self.due_timer = DueTimer()
        (
            parts.add(DueTimer, self.due_timer)
            .add(RandomUnit, SystemRandom().random)
            .add(ExecutionStateMachine, ExecutionStateMachine())
            # Where adapters of tenants may connect to.
            .add(Guard, public_and(words(kernel.settings.channels.tenant_networks)))
            .add(ExecutionObserver, observers.ExecutionMetrics(metrics))
            .add(CallbackObserver, observers.CallbackMetrics(metrics))
            .add(BounceObserver, observers.BounceMetrics(metrics))
            .add(ConversationObserver, observers.ConversationMetrics(metrics))
            .add(TrafficObserver, observers.TrafficMetrics(metrics))
        )
        self.adapter_configs = parts.get(AdapterConfigs, vendors=SERVED)
        self.policies = parts.get(Policies)
        self.history = parts.get(StoredHistory)
        #: What return paths of mails carry.
        self.return_tokens = parts.get(ReturnTokens, load_pepper=kernel.platform_pepper.get)
