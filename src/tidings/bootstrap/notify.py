"""What notify's parts share: templates, categories, links, and what is known and forgotten about recipients."""

from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.contracts.channel_configs import ChannelConfigs
from tidings.contracts.execution_history import ExecutionHistory
from tidings.contracts.profiles import MailboxNews
from tidings.notify.accept.attachments import Attachments
from tidings.notify.categories.registry import Categories
from tidings.notify.dispatch.outcome import NotificationSettler
from tidings.notify.erasure.erase import Eraser
from tidings.notify.imports.engine import Importer
from tidings.notify.preference_center.links import UnsubscribeLinks
from tidings.notify.receipts.address_effects import AddressEffects
from tidings.notify.render.engine import V8Renderer
from tidings.notify.render.model import Renderer
from tidings.notify.suppressions.suppress import Suppressor
from tidings.notify.templates.authoring import Authoring
from tidings.notify.templates.resolve import TemplateResolver
from tidings.notify.tracking.record import VisitRecorder
from tidings.router.callbacks.forget import StoredCallbackForgetter
from tidings.router.conversations.forget import ConversationForgetter
from tidings.router.forget import ForgetAll
from tidings.router.profiles.forget import ProfileForgetter
from tidings.router.profiles.proven_facts import StoredMailboxNews

if TYPE_CHECKING:
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.router import RouterStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep


class NotifyStage:
    """Made before the parts that accept, compose and dispatch."""

    def __init__(self, kernel: "KernelStage", router: "RouterStage") -> None:
        self._kernel = kernel
        #: The parts that notify's classes and handlers name in their signatures.
        self.parts = parts = (
            kernel.service_parts(kernel.audit, kernel.outbox)
            .add(ExecutionHistory, router.history)
            .add(ChannelConfigs, router.adapter_configs)
            .add(MailboxNews, StoredMailboxNews())
        )
        self.categories = parts.get(Categories)
        self.links = parts.get(UnsubscribeLinks, base_url=kernel.base_url)
        # Their child processes start when they are first needed: a process that renders nothing never pays for them.
        self.renderer = V8Renderer(own_hosts=kernel.own_hosts)
        parts.add(Renderer, self.renderer)
        self.templates = parts.get(TemplateResolver)
        self.authoring = parts.get(Authoring, own_hosts=kernel.own_hosts)
        for close in (self.renderer.close, self.authoring.close):
            kernel.closing.push_async_callback(close)
        self.attachments = parts.get(Attachments)
        self.suppressor = parts.get(Suppressor)
        self.importer = parts.get(Importer)
        self.eraser = parts.get(
            Eraser,
            signer=kernel.kms,
            router=ForgetAll(ProfileForgetter(), router.parts.get(ConversationForgetter)),
            callbacks=router.parts.get(StoredCallbackForgetter),
            backups_kept=kernel.settings.stores.backups_kept,
            stripe=stripe(Stripe.ERASE),
        )
        #: Settles notifications, with the router's record or when its event arrives.
        self.settler = parts.get(
            NotificationSettler, effects=parts.get(AddressEffects), stripe=stripe(Stripe.OUTCOMES)
        )
        self.visits = parts.get(VisitRecorder, stripe=stripe(Stripe.VISITS))
        kernel.closing.push_async_callback(self.visits.settle)

    def jobs(self) -> "dict[str, Job]":
        """Erasure."""
        from tidings.kernel.bus import Subscription
        from tidings.notify.erasure import consumer

        bus = self._kernel.bus
        return {
            "erasure": bus.consumer(
                Subscription(
                    consumer.GROUP,
                    consumer.SUBJECTS,
                    ledger="notification",
                    by_index=True,
                    # A person is much to lock; with many in one transaction other writers would wait.
                    by_lane=True,
                    on_tenant_events=consumer.handler(self.eraser),
                )
            ),
        }

    def sweeps(self) -> "dict[str, Sweep]":
        """Suppressions, imports, tokens and credentials whose time is over."""
        from tidings.notify.channels.rotate import revoke_superseded
        from tidings.notify.imports.sweep import sweep_imports
        from tidings.notify.preference_center.store import sweep_tokens
        from tidings.notify.suppressions.counts import fold_counts
        from tidings.notify.suppressions.expire import expire_suppressions

        db, clock = self._kernel.db, self._kernel.clock
        grace = self._kernel.settings.channels.credential_grace

        async def sweep_opt_out_tokens(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_tokens(tx, now=clock.now(), limit=most)

        return {
            "opt_out_tokens": sweep_opt_out_tokens,
            "credentials": lambda most: revoke_superseded(db, clock, grace=grace, limit=most),
            "expired_suppressions": lambda most: expire_suppressions(db, self.suppressor, clock, limit=most),
            "suppression_counts": lambda most: fold_counts(db, limit=most),
            "imports": lambda most: sweep_imports(db, clock, limit=most),
        }
