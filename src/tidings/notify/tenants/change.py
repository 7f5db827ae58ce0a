"""The platform changes a tenant: one event, projected, published and audited in one transaction.

The row is locked first, so that the versions of a tenant's events have no gap and no twin.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.tenants import (
    TENANT_EVENTS,
    TenantActivated,
    TenantCreated,
    TenantEvent,
    TenantFrozen,
    TenantSuspended,
    TenantUnfrozen,
)
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx
from tidings.kernel.errors import AlreadyExistsError
from tidings.kernel.events import new_event
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.outbox import Outbox
from tidings.kernel.tracing import current_traceparent
from tidings.notify.tenants import store
from tidings.notify.tenants.errors import SlugTakenError, TenantLeavingError, UnknownTenantError
from tidings.notify.tenants.model import Tenant, TenantStatus
from tidings.notify.tenants.project import project

_SUBJECTS = {form: subject for subject, form in TENANT_EVENTS.items()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TenantChanger:
    """Makes tenant events on the platform's behalf."""

    outbox: Outbox
    audit: AuditLog
    clock: Clock

    async def create(
        self, tx: PlatformTx, make: Callable[[TenantId], TenantCreated], *, actor: str
    ) -> Tenant:
        """A new tenant; `make` is given its id."""
        tenant_id = TENANT.new(self.clock.now())
        return await self._record(tx, tenant_id, make(tenant_id), before=None, actor=actor)

    async def change(
        self, tx: PlatformTx, tenant_id: TenantId, make: Callable[[Tenant], TenantEvent | None], *, actor: str
    ) -> Tenant:
        """The tenant after the event that `make` gives for its present state; None: nothing to do."""
        known = (await store.lock_tenants(tx, tenant_ids=[tenant_id])).get(tenant_id)
        if known is None:
            raise UnknownTenantError(f"no tenant has the id {tenant_id}")
        event = make(known)
        if event is None:
            return known
        if known.status is TenantStatus.DELETING:
            raise TenantLeavingError
        return await self._record(tx, tenant_id, event, before=known, actor=actor)

    async def _record(
        self, tx: PlatformTx, tenant_id: TenantId, payload: TenantEvent, *, before: Tenant | None, actor: str
    ) -> Tenant:
        event = new_event(
            _SUBJECTS[type(payload)],
            payload,
            tenant_id=tenant_id,
            ordering_key=tenant_id,
            source=NOTIFY_SOURCE,
            clock=self.clock,
            traceparent=current_traceparent(),
        )
        try:
            after = (await project(tx, [event]))[tenant_id]
        except AlreadyExistsError as error:
            if error.constraint == "uq_tenants_local_slug":
                raise SlugTakenError from error
            raise
        await self.outbox.append(tx, [event])
        entry = Entry(
            entity_type="tenant",
            entity_id=tenant_id,
            action=event.subject.split(".")[1],
            actor=actor,
            before=_facts(before) if before else None,
            after=_facts(after),
            reason=getattr(payload, "reason", None),
        )
        await self.audit.append(tx, [entry])
        return after


def freeze(reason: str | None) -> Callable[[Tenant], TenantEvent | None]:
    """Take no new writes; nothing to do where it is frozen."""
    return lambda known: None if known.frozen_at else TenantFrozen(
        tenant_id=known.id, version=known.version + 1, reason=reason
    )  # fmt: skip


def unfreeze(reason: str | None) -> Callable[[Tenant], TenantEvent | None]:
    """Take writes again; nothing to do where it is not frozen."""
    return lambda known: None if known.frozen_at is None else TenantUnfrozen(
        tenant_id=known.id, version=known.version + 1, reason=reason
    )  # fmt: skip


def suspend(reason: str | None) -> Callable[[Tenant], TenantEvent | None]:
    """Close its API and hold its sending; nothing to do where it is suspended."""
    return lambda known: None if known.status is TenantStatus.SUSPENDED else TenantSuspended(
        tenant_id=known.id, version=known.version + 1, reason=reason
    )  # fmt: skip


def resume(reason: str | None) -> Callable[[Tenant], TenantEvent | None]:
    """Open it again; nothing to do where it is active."""
    return lambda known: None if known.status is TenantStatus.ACTIVE else TenantActivated(
        tenant_id=known.id, version=known.version + 1, reason=reason
    )  # fmt: skip


def _facts(tenant: Tenant) -> dict[str, object]:
    return {
        "slug": tenant.slug,
        "region": tenant.region,
        "status": tenant.status.value,
        "frozen_at": tenant.frozen_at,
        "default_locale": tenant.default_locale,
        "default_timezone": tenant.default_timezone,
        "notification_policy": tenant.notification_policy,
        "theme_etag": tenant.theme_etag,
        "weight": tenant.weight,
        "version": tenant.version,
    }
