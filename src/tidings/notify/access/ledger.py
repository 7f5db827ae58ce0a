"""Publishes and audits what happens to a key, in the transaction in which it happens."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidings.contracts.api_keys import API_KEY_EVENTS
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.events import new_event
from tidings.kernel.outbox import Outbox
from tidings.kernel.tracing import current_traceparent
from tidings.notify.access.model import ApiKey
from tidings.notify.access.seals import KeySeals

_SUBJECTS: Mapping[type[Any], str] = {form: subject for subject, form in API_KEY_EVENTS.items()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class KeyLedger:
    """One event and one audit row per change; and the seals that changed rows are written with."""

    outbox: Outbox
    audit: AuditLog
    clock: Clock
    seals: KeySeals

    async def record(
        self,
        tx: TenantTx | PlatformTx,
        key: ApiKey,
        payload: Any,
        *,
        actor: str,
        before: ApiKey | None = None,
    ) -> None:
        """Note that `payload` happened to `key`."""
        subject = _SUBJECTS[type(payload)]
        event = new_event(
            subject,
            payload,
            tenant_id=key.tenant_id,
            ordering_key=key.id,
            source=NOTIFY_SOURCE,
            clock=self.clock,
            traceparent=current_traceparent(),
        )
        await self.outbox.append(tx, [event])
        entry = Entry(
            entity_type="api_key",
            entity_id=key.id,
            action=subject.split(".")[1],
            actor=actor,
            before=_facts(before) if before else None,
            after=_facts(key),
        )
        await self.audit.append(tx, [entry])


def _facts(key: ApiKey) -> dict[str, Any]:
    return {
        "name": key.name,
        "role": key.role,
        "environment": key.environment,
        "scopes": sorted(key.scopes),
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "rotated_from": key.rotated_from,
        "rotated_to": key.rotated_to,
        "overlap_ends_at": key.overlap_ends_at,
    }
