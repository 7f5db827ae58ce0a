"""Who may come in: tenants, how they stand, and the keys of the API."""

from functools import cached_property
from typing import TYPE_CHECKING

from tidings.kernel.clock import Clock
from tidings.kernel.parts import Parts
from tidings.notify.tenants.change import TenantChanger

if TYPE_CHECKING:
    from tidings.bootstrap.kernel import KernelStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.http.tenant_gate import TenantGate
    from tidings.notify.access.authenticate import KeyAuthenticator
    from tidings.notify.access.last_used import LastUsed
    from tidings.notify.access.ledger import KeyLedger
    from tidings.notify.metrics import NotifyMetrics
    from tidings.notify.tenants.states import ProjectedStates


class AccessStage:
    """Tenants and their keys, changed by the API and by commands alike."""

    def __init__(self, kernel: "KernelStage") -> None:
        self._kernel = kernel
        # Few, and without what takes long to import: commands need this stage and no other.
        self._parts = Parts(kernel.db, kernel.keyring, kernel.outbox, kernel.audit).add(Clock, kernel.clock)
        self.tenants = self._parts.get(TenantChanger)

    @cached_property
    def metrics(self) -> "NotifyMetrics":
        """What notify counts."""
        from tidings.notify.metrics import NotifyMetrics

        return NotifyMetrics(self._kernel.metrics)

    @cached_property
    def tenant_states(self) -> "ProjectedStates":
        """How tenants stand, for the gate; which metadata is searchable, for accepting."""
        from tidings.notify.tenants.states import ProjectedStates

        return self._parts.get(ProjectedStates)

    @cached_property
    def gate(self) -> "TenantGate":
        """Refuses requests of tenants that are frozen, suspended or gone."""
        from tidings.kernel.http.tenant_gate import TenantGate

        return self._parts.get(TenantGate, states=self.tenant_states, changes=self._kernel.changes)

    @cached_property
    def last_used(self) -> "LastUsed":
        """When each key was used last."""
        from tidings.notify.access.last_used import LastUsed

        return self._parts.get(LastUsed)

    @cached_property
    def key_ledger(self) -> "KeyLedger":
        """Makes, changes and revokes keys."""
        from tidings.notify.access.ledger import KeyLedger

        return self._parts.get(KeyLedger)

    @cached_property
    def keys(self) -> "KeyAuthenticator":
        """Who a key belongs to."""
        from tidings.notify.access.authenticate import KeyAuthenticator

        return self._parts.get(
            KeyAuthenticator,
            on_broken_seal=self.metrics.api_key_seals_broken.inc,
            changes=self._kernel.changes,
        )

    def api_jobs(self) -> "dict[str, Job]":
        """What writes down when the keys were used here."""
        return {"last_used": self.last_used}

    def jobs(self) -> "dict[str, Job]":
        """What tenants' events change: their states, their keys of encryption."""
        from tidings.kernel.bus import Subscription
        from tidings.notify.tenants import project, provision

        bus = self._kernel.bus
        return {
            "tenants": bus.consumer(
                Subscription(
                    project.GROUP, project.SUBJECTS, ledger="notification", on_platform_events=project.handle
                )
            ),
            "tenant_keys": bus.consumer(
                Subscription(
                    provision.GROUP,
                    provision.SUBJECTS,
                    ledger="notification",
                    on_tenant_events=provision.handler(self._kernel.keyring),
                )
            ),
        }
