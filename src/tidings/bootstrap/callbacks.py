"""What comes from the vendors: callbacks, what people write, mail that comes back."""

from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING, Literal

from tidings.router.adapters.http.callbacks import GenericForm
from tidings.router.callbacks.connection_events import Hearing
from tidings.router.callbacks.hooks import CallbackHooks
from tidings.router.callbacks.intake import CallbackGroupCommit
from tidings.router.callbacks.jobs import WAKEUP_CHANNEL, WAKEUP_PAYLOAD, CallbackJob
from tidings.router.callbacks.receive_callback import CallbackEndpoint
from tidings.router.callbacks.routes import CallbackWakeup
from tidings.router.conversations import wakeups as conversation_wakeups
from tidings.router.conversations.keep_inbound import InboundKeeper
from tidings.settings import address_and_port, words

if TYPE_CHECKING:
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.router import RouterStage
    from tidings.contracts.callback_forms import ParsedCallback
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.router.accounts.model import StoredAccount
    from tidings.router.bounces.mailboxes import BounceMailboxes
    from tidings.router.bounces.receive_bounce import BounceReceiver
    from tidings.router.callbacks.forget import BodyEraser
    from tidings.router.receipts import ApplyReceipts
    from tidings.router.status_map.reapply import Reapplier


class CallbacksStage:
    """From the vendors back to executions, and to the person or program that was written to."""

    def __init__(self, kernel: "KernelStage", router: "RouterStage") -> None:
        self._kernel = kernel
        self._router = router
        self._parts = parts = router.parts
        # A job in this process is woken at once; one elsewhere hears it from the database.
        self.wakeup = kernel.bus.wakeups.on(WAKEUP_CHANNEL, WAKEUP_PAYLOAD)
        self.conversation_wakeups = conversation_wakeups.ConversationWakeups(
            kernel.bus.wakeups.on(conversation_wakeups.CHANNEL, conversation_wakeups.PAYLOAD)
        )
        parts.add(CallbackWakeup, self.wakeup).add(
            conversation_wakeups.ConversationWakeups, self.conversation_wakeups
        )
        self.intake = parts.get(
            CallbackGroupCommit, wakeup=self.wakeup, wrote=InboundKeeper(self.conversation_wakeups.inbound)
        )
        self._hearing = parts.get(Hearing)
        parts.get(CallbackHooks, max_age=kernel.settings.channels.secrets_max_age)
        parts.get(CallbackEndpoint, public_url=kernel.base_url, usual=GenericForm())

    async def hear(self, account: "StoredAccount", said: "ParsedCallback") -> None:
        """Keep what a vendor says over the adapter's own connection."""
        await self._hearing.keep(said, vendor=account.vendor, account_id=account.id)

    @cached_property
    def apply_receipts(self) -> "ApplyReceipts":
        """Tells executions what vendors say of their attempts."""
        from tidings.router.executions import receipts

        return receipts.apply

    @cached_property
    def job(self) -> "CallbackJob":
        """Applies what was kept."""
        from tidings.router.callbacks.apply import Applier

        self._parts.get(Applier, apply_receipts=self.apply_receipts, on_woken=self._router.due_timer.expect)
        return self._parts.get(
            CallbackJob, wakeup=self.wakeup, poll_seconds=lambda: self._kernel.bus.wakeups.poll_seconds
        )

    @cached_property
    def reapplier(self) -> "Reapplier":
        """Applies receipts again whose codes have got a meaning."""
        from tidings.router.status_map.reapply import Reapplier

        return self._parts.get(Reapplier, apply=self.apply_receipts, on_woken=self._router.due_timer.expect)

    @cached_property
    def bounces(self) -> "BounceReceiver":
        """Reads mail that comes back."""
        from tidings.router.bounces.receive_bounce import BounceReceiver

        return self._parts.get(BounceReceiver, addresses=words(self._kernel.settings.bounces.addresses))

    @cached_property
    def bounce_mailboxes(self) -> "BounceMailboxes":
        """Fetches it where it lies in a mailbox."""
        from tidings.router.bounces.mailboxes import BounceMailboxes

        return self._parts.get(
            BounceMailboxes, desk=self.bounces, every=self._kernel.settings.bounces.poll_every
        )

    @cached_property
    def _body_eraser(self) -> "BodyEraser":
        from tidings.router.callbacks.forget import BodyEraser

        return self._parts.get(BodyEraser)

    def jobs(self) -> "dict[str, Job]":
        """Callbacks, bounces, and what erasure takes from both."""
        from tidings.kernel.bus import Subscription
        from tidings.router.callbacks import forget

        return {
            "callbacks": self.job,
            "bounce_mailboxes": self.bounce_mailboxes,
            **self._bounce_servers(),
            "erased_callbacks": self._kernel.bus.consumer(
                Subscription(
                    forget.GROUP,
                    forget.SUBJECTS,
                    ledger="chan",
                    on_tenant_events=forget.handler(self._body_eraser),
                )
            ),
        }

    def _bounce_servers(self) -> "dict[str, Job]":
        """Where mail that comes back is taken, by the name of the job."""
        from tidings.router.bounces.server import BounceServer

        settings = self._kernel.settings.bounces
        chosen: dict[Literal["smtp", "lmtp"], str | None] = {"smtp": settings.smtp, "lmtp": settings.lmtp}
        servers: dict[str, Job] = {}
        for protocol, address in chosen.items():
            if address is not None:
                host, port = address_and_port(address, 0)
                servers[f"bounces_{protocol}"] = BounceServer(
                    self.bounces,
                    protocol=protocol,
                    host=host,
                    port=port,
                    name=settings.name or _greeting(self._kernel.own_hosts[0]),
                )
        return servers

    def sweeps(self) -> "dict[str, Sweep]":
        """What was kept of callbacks, once it is old or its person erased."""
        from tidings.router.callbacks.sweep import RawBodySweeper, settle_stuck, sweep_dedup

        kernel = self._kernel
        return {
            "callback_ledger": lambda most: sweep_dedup(kernel.db, kernel.clock, limit=most),
            "callback_requests": lambda most: settle_stuck(kernel.db, kernel.clock, limit=most),
            "callback_bodies": self._parts.get(RawBodySweeper).sweep,
            "erased_callbacks": self._body_eraser.sweep,
            "erased_executions": self._body_eraser.forget_orders,
        }


def _greeting(host: str) -> str:
    """A name as mail servers greet by it: an address stands in brackets (RFC 5321, 4.1.3)."""
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return host
    return f"[IPv6:{address}]" if address.version == 6 else f"[{address}]"
