"""What goes to the vendors: their accounts, the connections to them, how much of the traffic each gets."""

from functools import cached_property
from typing import TYPE_CHECKING

from tidings.contracts.inbox import InboxDeliveries
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
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.router.traffic.job import TrafficJob


class VendorsStage:
    """The vendors, for every part that has something to send."""

    def __init__(
        self,
        kernel: "KernelStage",
        router: "RouterStage",
        callbacks: "CallbacksStage",
        *,
        inboxes: InboxDeliveries,
    ) -> None:
        """`inboxes`: where items of the in-app inbox go."""
        self._parts = parts = router.parts
        channels = kernel.settings.channels
        # Made before the vendors, and so closed after them.
        _ = kernel.hot_state
        self.rates = Rates.read(channels.currency_rates)
        parts.add(Rates, self.rates)
        self.accounts = parts.get(Accounts, vendors=frozenset(ADAPTERS))
        self.adapters = parts.get(
            OpenAdapters,
            hear=callbacks.hear,
            write_token=router.return_tokens.write,
            max_age=channels.secrets_max_age,
        )
        self.vendors = parts.get(Vendors, inboxes=inboxes)
        kernel.closing.push_async_callback(self.vendors.close)
        self.desk = parts.get(AdapterProbe)
        self.traffic = parts.get(VendorSelection)
        self.traffic_changer = parts.get(TrafficChanger)

    @cached_property
    def traffic_job(self) -> "TrafficJob":
        """Opens and closes circuits, moves weights."""
        from tidings.router.executions.store import wake_waiting
        from tidings.router.traffic.job import TrafficJob

        return self._parts.get(TrafficJob, wake=wake_waiting)

    def jobs(self) -> "dict[str, Job]":
        """Circuits and weights; connections on which vendors speak first."""
        from tidings.router.vendors.listening import ListeningJob

        listens = frozenset(kind.name for kind in ADAPTERS.values() if kind.listens)
        return {"traffic": self.traffic_job, "listening": self._parts.get(ListeningJob, kinds=listens)}

    def sweeps(self) -> "dict[str, Sweep]":
        """None: what is known of traffic is kept up to date by its job."""
        return {}
