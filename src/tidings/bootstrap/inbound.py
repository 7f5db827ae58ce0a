"""What comes from the vendors: callbacks, what people write, and the connections that are kept open to hear it."""

from ipaddress import ip_address
from typing import TYPE_CHECKING, Literal

from tidings.bootstrap.observers import BounceMetrics, CallbackMetrics
from tidings.contracts.callback_forms import Reading
from tidings.router.adapters.http.callbacks import GenericForm
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.bounces.desk import BounceDesk
from tidings.router.bounces.mailboxes import BounceMailboxes
from tidings.router.bounces.server import BounceServer
from tidings.router.callbacks.apply import Applier
from tidings.router.callbacks.dead_letters import DeadCallbacks
from tidings.router.callbacks.evidence import Evidence
from tidings.router.callbacks.hearing import Hearing
from tidings.router.callbacks.hooks import Hooks
from tidings.router.callbacks.intake import Intake
from tidings.router.callbacks.jobs import WAKEUP_CHANNEL, WAKEUP_PAYLOAD, CallbackJob
from tidings.router.callbacks.take import HookDesk
from tidings.router.callbacks.wrote import InboundKeeper
from tidings.router.channel_configs.store import StoredAccount
from tidings.router.conversations import wakeups as conversation_wakeups
from tidings.router.executions import receipts
from tidings.router.vendors.listening import ListeningJob
from tidings.settings import BounceSettings, address_and_port, words

if TYPE_CHECKING:
    from tidings.bootstrap.system import System


class Inbound:
    """From the vendors back to the ladders, and to whoever was written to."""

    def __init__(self, system: "System") -> None:
        self._observer = observer = CallbackMetrics(system.router_metrics)
        # A job in this process is told at once; one elsewhere hears it from the database.
        self.wakeup = system.bus.wakeups.on(WAKEUP_CHANNEL, WAKEUP_PAYLOAD)
        self.conversation_wakeups = conversation_wakeups.ConversationWakeups(
            system.bus.wakeups.on(conversation_wakeups.CHANNEL, conversation_wakeups.PAYLOAD)
        )
        self._intake = Intake(
            system.db,
            blobs=lambda: system.blobs,
            keyring=system.keyring,
            clock=system.clock,
            wakeup=self.wakeup,
            wrote=InboundKeeper(self.conversation_wakeups.inbound),
            observer=observer,
        )
        self._hearing = Hearing(self._intake, clock=system.clock, observer=observer)
        self.desk = HookDesk(
            Hooks(
                system.db,
                system.secrets,
                clock=system.clock,
                max_age=system.settings.channels.secrets_max_age,
            ),
            self._intake,
            public_url=system.base_url,
            usual=GenericForm(),
            clock=system.clock,
            evidence=Evidence(clock=system.clock),
            observer=observer,
        )
        self.dead = DeadCallbacks(audit=system.router_audit, keyring=system.keyring, clock=system.clock)
        self.callbacks = CallbackJob(
            system.db,
            Applier(
                system.db, system.keyring, receipts.apply, on_woken=system.due_timer.expect, observer=observer
            ),
            wakeup=self.wakeup,
            clock=system.clock,
            observer=observer,
            poll_seconds=lambda: system.bus.wakeups.poll_seconds,
        )
        self.bounces = BounceDesk(
            system.db,
            system.return_tokens,
            self._intake,
            clock=system.clock,
            observer=BounceMetrics(system.router_metrics),
            addresses=words(system.settings.bounces.addresses),
        )
        self.bounce_mailboxes = BounceMailboxes(
            system.db,
            self.bounces,
            secrets=system.secrets,
            leases=system.hot_state.leases,
            clock=system.clock,
            tenant_guard=system.tenant_guard,
            every=system.settings.bounces.poll_every,
        )
        self.listening = ListeningJob(
            system.db,
            system.outbound.adapters,
            kinds=frozenset(kind.name for kind in ADAPTERS.values() if kind.listens),
            clock=system.clock,
        )

    def bounce_servers(self, settings: BounceSettings, *, name: str) -> dict[str, BounceServer]:
        """Where mail that comes back is taken, by the name of the job."""
        chosen: dict[Literal["smtp", "lmtp"], str | None] = {"smtp": settings.smtp, "lmtp": settings.lmtp}
        found: dict[str, BounceServer] = {}
        for protocol, place in chosen.items():
            if place is not None:
                host, port = address_and_port(place, 0)
                found[f"bounces_{protocol}"] = BounceServer(
                    self.bounces,
                    protocol=protocol,
                    host=host,
                    port=port,
                    name=settings.name or _greeting(name),
                )
        return found

    async def hear(self, account: StoredAccount, said: Reading) -> None:
        """Keep what a vendor says over the adapter's own connection."""
        await self._hearing.keep(said, vendor=account.vendor, account_id=account.id)


def _greeting(host: str) -> str:
    """A name as mail servers greet by it: an address stands in brackets (RFC 5321, 4.1.3)."""
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return host
    return f"[IPv6:{address}]" if address.version == 6 else f"[{address}]"
