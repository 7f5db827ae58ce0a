"""What goes to the vendors: their accounts, the connections to them, how much of the traffic each gets."""

from functools import cached_property
from typing import TYPE_CHECKING

from tidings.router.accounts.accounts import Accounts
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.prices.rates import Rates
from tidings.router.traffic.change import TrafficChanger
from tidings.router.traffic.vendor_selection import VendorSelection
from tidings.router.vendors.open_adapters import OpenAdapters
from tidings.router.vendors.probe import AdapterProbe
from tidings.router.vendors.vendors import Vendors

if TYPE_CHECKING:
    from tidings.bootstrap.callbacks import CallbacksStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.router import RouterStage
    from tidings.kernel.durable.jobs import Job
    from tidings.router.traffic.job import TrafficJob


class VendorsStage:
    """The vendors, for every part that has something to send."""

    def __init__(self, kernel: "KernelStage", router: "RouterStage", callbacks: "CallbacksStage") -> None:
        self._kernel = kernel
        self._metrics = router.metrics
        db, clock = kernel.db, kernel.clock
        channels = kernel.settings.channels
        # Made before the vendors, and so closed after them.
        limits = kernel.hot_state.limits
        self.rates = Rates.read(channels.currency_rates)
        self.accounts = Accounts(db, vendors=frozenset(ADAPTERS), clock=clock)
        self.adapters = OpenAdapters(
            kernel.secrets,
            clock=clock,
            tenant_guard=router.tenant_guard,
            hear=callbacks.hear,
            write_token=router.return_tokens.write,
            max_age=channels.secrets_max_age,
        )
        self.vendors = Vendors(self.accounts, self.adapters)
        kernel.closing.push_async_callback(self.vendors.close)
        self.desk = AdapterProbe(self.vendors, self.adapters)
        self.traffic = VendorSelection(limits, clock=clock)
        self.traffic_changer = TrafficChanger(
            db, audit=kernel.router_audit, outbox=kernel.router_outbox, clock=clock
        )

    @cached_property
    def traffic_job(self) -> "TrafficJob":
        """Opens and closes circuits, moves weights."""
        from tidings.bootstrap.observers import TrafficMetrics
        from tidings.router.executions.store import wake_waiting
        from tidings.router.traffic.job import TrafficJob

        return TrafficJob(
            self._kernel.db,
            self.traffic,
            self.traffic_changer,
            clock=self._kernel.clock,
            observer=TrafficMetrics(self._metrics),
            wake=wake_waiting,
        )

    def jobs(self) -> "dict[str, Job]":
        """Circuits and weights; connections on which vendors speak first."""
        from tidings.router.vendors.listening import ListeningJob

        listens = frozenset(kind.name for kind in ADAPTERS.values() if kind.listens)
        return {
            "traffic": self.traffic_job,
            "listening": ListeningJob(
                self._kernel.db, self.adapters, kinds=listens, clock=self._kernel.clock
            ),
        }
