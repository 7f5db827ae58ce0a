"""Ends sessions, tells of it and audits it, in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidings.backoffice.alerts.alerts import Alerts
from tidings.backoffice.alerts.model import NewAlert
from tidings.backoffice.ids import DEVICE, OPERATOR, DeviceId, OperatorId, SessionId
from tidings.backoffice.sessions import store
from tidings.backoffice.sessions.errors import UnknownSessionError
from tidings.backoffice.sessions.model import OperatorSession
from tidings.contracts.backoffice import (
    FORCE_LOGOUT_SUBJECT,
    SESSION_REVOKED_SUBJECT,
    EndedReason,
    ForceLogout,
    ForceLogoutScope,
    SessionRevoked,
)
from tidings.contracts.events import BACKOFFICE_SOURCE
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId
from tidings.kernel.outbox import Outbox
from tidings.kernel.tracing import current_traceparent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionEnder:
    """The one way in which a session ends before its time."""

    db: Database
    alerts: Alerts
    outbox: Outbox
    audit: AuditLog
    clock: Clock

    async def end(
        self,
        tx: TenantTx | PlatformTx,
        *,
        reason: EndedReason,
        actor: str,
        session_id: SessionId | None = None,
        operator_id: OperatorId | None = None,
        device_id: DeviceId | None = None,
        except_id: SessionId | None = None,
    ) -> list[OperatorSession]:
        """End those that fit all that is named; the ones that were open."""
        now = self.clock.now()
        closed = await store.end_sessions(
            tx,
            now=now,
            reason=reason,
            session_id=session_id,
            operator_id=operator_id,
            device_id=device_id,
            except_id=except_id,
        )
        # A device's row of a session whose time was over makes room for the next, and is no news.
        ended = [session for session in closed if now < session.expires_at]
        await self.outbox.append(tx, [self._revoked(session, reason) for session in ended])
        await self.audit.append(tx, [_entry(session, reason, actor) for session in ended])
        if reason == "other_device":
            await self.alerts.raise_(tx, [_alert(session) for session in ended])
        return ended

    async def revoke(
        self, tx: TenantTx | PlatformTx, session_id: SessionId, *, actor: str
    ) -> OperatorSession:
        """End one; an `UnknownSessionError` where there is none that is open."""
        ended = await self.end(tx, reason="revoked", actor=actor, session_id=session_id)
        if not ended:
            raise UnknownSessionError
        return ended[0]

    async def force_out(
        self,
        tx: TenantTx | PlatformTx,
        scope: ForceLogoutScope,
        target: str | None,
        *,
        actor: str,
        except_id: SessionId | None = None,
    ) -> Sequence[OperatorSession]:
        """End all sessions of an operator or a device, or all there are in this tenant or of the platform; and tell of it once."""
        operator_id = OPERATOR.parse(target or "", field="target") if scope == "operator" else None
        device_id = DEVICE.parse(target or "", field="target") if scope == "device" else None
        ended = await self.end(
            tx,
            reason="forced_out",
            actor=actor,
            operator_id=operator_id,
            device_id=device_id,
            except_id=except_id,
        )
        told = ForceLogout(scope=scope, target=target, sessions=len(ended))
        await self.outbox.append(tx, [self._event(tx.tenant_id, FORCE_LOGOUT_SUBJECT, target or scope, told)])
        entry = Entry(
            entity_type="force_logout",
            entity_id=target or tx.tenant_id or "platform",
            action="forced_out",
            actor=actor,
            after=told,
        )
        await self.audit.append(tx, [entry])
        return ended

    async def force_everybody_out(self, *, actor: str, except_id: SessionId | None = None) -> int:
        """End all sessions of the platform and of every tenant, tenant by tenant; how many were open."""
        async with self.db.platform() as tx:
            tenants = await store.find_tenants_with_sessions(tx, now=self.clock.now())
            count = len(await self.force_out(tx, "all", None, actor=actor, except_id=except_id))
        for tenant_id in tenants:
            async with self.db.tenant(tenant_id) as tenant_tx:
                count += len(await self.force_out(tenant_tx, "all", None, actor=actor))
        return count

    def _revoked(self, session: OperatorSession, reason: EndedReason) -> Event:
        told = SessionRevoked(
            session_id=session.id,
            operator_id=session.operator_id,
            device_id=session.device_id,
            reason=reason,
        )
        return self._event(session.tenant_id, SESSION_REVOKED_SUBJECT, session.operator_id, told)

    def _event(
        self, tenant_id: TenantId | None, subject: str, key: str, told: SessionRevoked | ForceLogout
    ) -> Event:
        return new_event(
            subject,
            told,
            tenant_id=tenant_id,
            ordering_key=key,
            source=BACKOFFICE_SOURCE,
            clock=self.clock,
            traceparent=current_traceparent(),
        )


def _alert(session: OperatorSession) -> NewAlert:
    """Somebody had the token and not the device: a thief, or a browser that lost its cookie."""
    return NewAlert(
        dedup_key=f"session_on_other_device:{session.operator_id}",
        category="session_on_other_device",
        severity="critical",
        property_id=None,
        source="sessions",
        facts={
            "operator_id": session.operator_id,
            "session_id": session.id,
            "device_id": session.device_id,
        },
    )


def _entry(session: OperatorSession, reason: EndedReason, actor: str) -> Entry:
    return Entry(
        entity_type="session",
        entity_id=session.id,
        action="ended",
        actor=actor,
        after={"operator_id": session.operator_id, "device_id": session.device_id, "ended_reason": reason},
    )
