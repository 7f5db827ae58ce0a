"""What a tenant's own services are told of its events."""

from functools import cached_property
from typing import TYPE_CHECKING

from tidings.bootstrap.observers import WebhookMetrics
from tidings.kernel.bus import Subscription
from tidings.kernel.egress import Guard, public_and
from tidings.kernel.event_versions.publish import EventVersions
from tidings.kernel.signed_webhooks.call import WebhookCaller
from tidings.notify.webhooks import queue_deliveries
from tidings.notify.webhooks.change import WebhookChanger
from tidings.notify.webhooks.credentials import WebhookCredentialKeeper
from tidings.notify.webhooks.portal_links import WebhookPortalLinks
from tidings.notify.webhooks.queue_deliveries import WebhookQueuer
from tidings.notify.webhooks.registry import WebhookRegistry
from tidings.notify.webhooks.routes import WebhookWake
from tidings.notify.webhooks.trial import WebhookTrier
from tidings.settings import words

if TYPE_CHECKING:
    from tidings.bootstrap.access import AccessStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.kernel.db import WorkerTx
    from tidings.kernel.durable.claims import ClaimingJob
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.notify.ids import WebhookId

#: Where those who have something to tell notify those who call.
_CHANNEL, _PAYLOAD = "tidings_webhooks", "due"
#: Seconds of the longest call that a webhook may ask for.
_LONGEST_CALL = 30.0


class WebhooksStage:
    """From an event to the endpoints that want it."""

    def __init__(self, kernel: "KernelStage", access: "AccessStage", notify: "NotifyStage") -> None:
        self._kernel = kernel
        self._access = access
        self._parts = parts = notify.parts
        networks = words(kernel.settings.channels.tenant_networks)
        parts.add(Guard, public_and(networks))
        self.wake = WebhookWake()
        kernel.bus.wakeups.on(_CHANNEL, _PAYLOAD, self.wake)
        parts.add(WebhookWake, self.wake)
        self.registry = parts.get(WebhookRegistry)
        # An operator who lets tenants into a network of the house lets them speak plainly there.
        parts.get(WebhookChanger, require_https=not networks)
        parts.get(WebhookPortalLinks, base_url=kernel.base_url)
        # Apart: trials of a webhook that hangs, again and again, hold up no event.
        trial_caller = parts.make(WebhookCaller, connections=16, timeout_seconds=_LONGEST_CALL)
        credentials = parts.get(WebhookCredentialKeeper)
        for close in (trial_caller.close, credentials.close):
            kernel.closing.push_async_callback(close)
        parts.get(WebhookTrier, caller=trial_caller)
        parts.add_late(EventVersions, lambda: kernel.event_versions)
        queuer = parts.get(WebhookQueuer)
        self.consumer = kernel.bus.consumer(
            Subscription(
                queue_deliveries.GROUP,
                queue_deliveries.SUBJECTS,
                ledger="notification",
                by_index=True,
                select=queuer.select,
                on_tenants_events=queuer.handle,
                on_platform_events=queue_deliveries.pass_over,
            )
        )

    @cached_property
    def deliveries(self) -> "ClaimingJob[WebhookId]":
        """Calls endpoints that are due."""
        from tidings.kernel.durable.claims import ClaimingJob
        from tidings.kernel.durable.wakeup import DueTimer
        from tidings.notify.webhooks.deliver import CLAIM_SETTINGS, MOST_CALLS_AT_ONCE, WebhookDeliverer
        from tidings.notify.webhooks.delivery_store import ENDPOINT_CLAIMS

        caller = self._parts.make(
            WebhookCaller, connections=MOST_CALLS_AT_ONCE, timeout_seconds=_LONGEST_CALL
        )
        timer = DueTimer(self.wake)
        deliverer = self._parts.get(
            WebhookDeliverer,
            caller=caller,
            due_timer=timer,
            observer=WebhookMetrics(self._access.metrics),
        )
        for close in (caller.close, deliverer.close):
            self._kernel.closing.push_async_callback(close)
        return self._parts.make(
            ClaimingJob,
            claims=ENDPOINT_CLAIMS,
            work=None,
            work_on_set=deliverer.deliver,
            name="webhook_deliveries",
            due_timer=timer,
            known=self._kernel.presence.known,
            settings=CLAIM_SETTINGS,
        )

    async def free_orphans(self, tx: "WorkerTx") -> int:
        """Free what no living worker has in hand."""
        return await self.deliveries.free_orphans(tx)

    def jobs(self) -> "dict[str, Job]":
        """From an event to a call."""
        return {"webhooks": self.consumer, "webhook_deliveries": self.deliveries}

    def sweeps(self) -> "dict[str, Sweep]":
        """What is overdue, for the metrics; portal links and counts of calls whose time is over."""
        from tidings.notify.webhooks.call_counts import sweep_hours
        from tidings.notify.webhooks.delivery_store import longest_due
        from tidings.notify.webhooks.portal_link_store import sweep_links

        kernel, metrics = self._kernel, self._access.metrics

        async def measure(_: int) -> int:
            async with kernel.db.worker() as tx:
                due_at = await longest_due(tx)
            late = 0.0 if due_at is None else (kernel.clock.now() - due_at).total_seconds()
            metrics.webhooks_overdue.set(max(late, 0.0))
            return 0

        async def sweep_portal_links(most: int) -> int:
            async with kernel.db.worker() as tx:
                return await sweep_links(tx, now=kernel.clock.now(), limit=most)

        async def sweep_call_counts(most: int) -> int:
            async with kernel.db.worker() as tx:
                return await sweep_hours(tx, now=kernel.clock.now(), limit=most)

        return {
            "webhooks_overdue": measure,
            "webhook_portal_links": sweep_portal_links,
            "webhook_call_counts": sweep_call_counts,
        }
