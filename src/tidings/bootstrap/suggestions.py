"""What an AI suggests, and how operators like to work: mirrors of upstream services, and what those are told."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tidings.backoffice.ids import DecisionId
    from tidings.bootstrap.kernel import KernelStage
    from tidings.kernel.db import WorkerTx
    from tidings.kernel.durable.claims import ClaimingJob
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.kernel.parts import Parts


class SuggestionsStage:
    """A part of the back office."""

    def __init__(self, kernel: "KernelStage", parts: "Callable[[], Parts]") -> None:
        self._kernel = kernel
        self._parts = parts

    @staticmethod
    def register(kernel: "KernelStage", parts: "Parts") -> None:
        """Let handlers name them."""
        from tidings.backoffice.ai_inbox.deliver import DeliveryTimer
        from tidings.contracts.template_drafts import AiDrafts
        from tidings.kernel.flags.flags import Flags
        from tidings.notify.templates.ai_drafts import StoredAiDrafts
        from tidings.notify.templates.drafts import DraftChanger

        parts.add(DeliveryTimer, DeliveryTimer())
        parts.add(AiDrafts, StoredAiDrafts(DraftChanger(kernel.audit, kernel.clock)))
        parts.add_late(Flags, lambda: kernel.flags)

    @cached_property
    def deliveries(self) -> "ClaimingJob[DecisionId]":
        """Tells the service what people decided."""
        from tidings.backoffice.ai_inbox.deliver import DELIVERIES, DecisionDeliverer, DeliveryTimer
        from tidings.kernel.durable.claims import ClaimingJob

        kernel, parts = self._kernel, self._parts()
        return ClaimingJob(
            kernel.db,
            DELIVERIES,
            parts.get(DecisionDeliverer).deliver,
            name="ai_decisions",
            worker_id=kernel.worker_id,
            known=kernel.presence.known,
            clock=kernel.clock,
            due_timer=parts.get(DeliveryTimer),
            metrics=kernel.metrics,
        )

    @property
    def free_orphans(self) -> "Callable[[WorkerTx], Awaitable[int]]":
        """Frees what a worker that died had claimed."""
        return self.deliveries.free_orphans

    def jobs(self) -> "dict[str, Job]":
        """What tells the services, and what hears them."""
        from tidings.backoffice.ai_inbox import hear as suggestions
        from tidings.backoffice.preferences import hear as preferences
        from tidings.kernel.bus import Subscription

        bus, parts = self._kernel.bus, self._parts()
        suggestion_hearer = parts.get(suggestions.SuggestionHearer)
        preferences_hearer = parts.get(preferences.PreferencesHearer)
        return {
            "ai_decisions": self.deliveries,
            "suggestions": bus.consumer(
                Subscription(
                    suggestions.GROUP,
                    suggestions.SUBJECTS,
                    ledger="bff_backoffice",
                    on_tenant_events=suggestion_hearer.handle,
                    select=suggestion_hearer.select,
                    start="now",
                )
            ),
            "operator_preferences": bus.consumer(
                Subscription(
                    preferences.GROUP,
                    preferences.SUBJECTS,
                    ledger="bff_backoffice",
                    on_tenant_events=preferences_hearer.handle,
                    select=preferences_hearer.select,
                    start="now",
                )
            ),
        }

    def sweeps(self) -> "dict[str, Sweep]":
        """Suggestions whose time is over, and those that were closed weeks ago."""
        from tidings.backoffice.ai_inbox.model import KEPT
        from tidings.backoffice.ai_inbox.store import expire_entries, sweep_entries

        db, clock = self._kernel.db, self._kernel.clock

        async def expired(most: int) -> int:
            async with db.worker() as tx:
                return await expire_entries(tx, now=clock.now(), limit=most)

        async def closed(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_entries(tx, before=clock.now() - KEPT, limit=most)

        return {"ai_suggestions_expired": expired, "ai_suggestions": closed}
