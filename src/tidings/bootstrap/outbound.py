"""What goes to the vendors: their accounts, the connections to them, how much of the traffic each gets."""

from typing import TYPE_CHECKING

from tidings.bootstrap.observers import TrafficMetrics
from tidings.contracts.callback_forms import Reading
from tidings.kernel.outbox import Outbox
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.channel_configs.store import StoredAccount
from tidings.router.executions.store import wake_waiting
from tidings.router.prices.rates import Rates
from tidings.router.traffic.board import Traffic
from tidings.router.traffic.change import TrafficChanger
from tidings.router.traffic.job import TrafficJob
from tidings.router.vendors.accounts import Accounts
from tidings.router.vendors.desk import Desk
from tidings.router.vendors.opened import OpenAdapters
from tidings.router.vendors.vendors import Vendors

if TYPE_CHECKING:
    from tidings.bootstrap.system import System


class Outbound:
    """The vendors, as whoever has something to send sees them."""

    def __init__(self, system: "System") -> None:
        db, clock = system.db, system.clock
        channels = system.settings.channels

        async def hear(account: StoredAccount, said: Reading) -> None:
            await system.inbound.hear(account, said)

        self.rates = Rates.read(channels.currency_rates)
        self.accounts = Accounts(db, vendors=frozenset(ADAPTERS), clock=clock)
        self.adapters = OpenAdapters(
            system.secrets,
            clock=clock,
            tenant_guard=system.tenant_guard,
            hear=hear,
            write_token=system.return_tokens.write,
            max_age=channels.secrets_max_age,
        )
        self.vendors = Vendors(self.accounts, self.adapters)
        self.desk = Desk(self.vendors, self.adapters)
        self.traffic = Traffic(system.hot_state.limits, clock=clock)
        self.traffic_changer = TrafficChanger(
            db, audit=system.router_audit, outbox=Outbox("chan"), clock=clock
        )
        self.traffic_job = TrafficJob(
            db,
            self.traffic,
            self.traffic_changer,
            clock=clock,
            observer=TrafficMetrics(system.router_metrics),
            wake=wake_waiting,
        )
