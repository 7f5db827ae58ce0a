"""Opens a session for an operator who has proved themselves, on the device that they sit before."""

from dataclasses import dataclass, replace

from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.credentials.tokens import new_secret
from tidings.backoffice.ids import DEVICE, SESSION
from tidings.backoffice.operators.model import OperatorRecord
from tidings.backoffice.sessions import store
from tidings.backoffice.sessions.devices import KnownDevices, hash_device
from tidings.backoffice.sessions.end import SessionEnder
from tidings.backoffice.sessions.model import LASTS, Device, OpenedSession, OperatorSession
from tidings.contracts.backoffice import SESSION_OPENED_SUBJECT, SessionOpened
from tidings.contracts.events import BACKOFFICE_SOURCE
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.events import new_event
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.ids import TenantId
from tidings.kernel.origin import current_origin
from tidings.kernel.outbox import Outbox
from tidings.kernel.tracing import current_traceparent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionOpener:
    """Opens sessions; one that is open on the device ends."""

    db: Database
    pepper: OperatorPepper
    devices: KnownDevices
    gate: TenantGate
    ender: SessionEnder
    outbox: Outbox
    audit: AuditLog
    clock: Clock

    async def open(self, operator: OperatorRecord, device_cookie: str | None, *, how: str) -> OpenedSession:
        """A session of 12 hours; `how` they proved themselves is for the audit. Refused where their tenant is suspended."""
        tenant_id = operator.tenant_id
        if tenant_id is not None:
            await self.gate.check(tenant_id, writes=False)
        now = self.clock.now()
        device = await self.devices.find(device_cookie)
        if device is not None and device.tenant_id != tenant_id:
            # Somebody of another tenant sat here: their session ends, and this tenant knows the browser under an id of its own.
            async with self.db.scoped(device.tenant_id) as tx:
                await self.ender.end(tx, reason="replaced", actor=operator.id, device_id=device.id)
            device = None
        device_secret = new_secret() if device is None else None
        device_id = DEVICE.new(now) if device is None else device.id
        device_hash = (
            "" if device_secret is None else await hash_device(self.pepper, device_id, device_secret)
        )
        secret, expires_at = new_secret(), now + LASTS
        session_id = SESSION.new(now)
        origin = current_origin()
        session = OperatorSession(
            id=session_id,
            tenant_id=tenant_id,
            operator_id=operator.id,
            device_id=device_id,
            token_hash="",
            ip_hash=await self._hashed("ip", tenant_id, origin.client if origin else None),
            fingerprint_hash=await self._hashed(
                "fingerprint", tenant_id, origin.user_agent if origin else None
            ),
            opened_at=now,
            expires_at=expires_at,
        )
        session = await sealed(self.pepper, session, secret)
        opened = SessionOpened(
            session_id=session_id, operator_id=operator.id, device_id=device_id, expires_at=expires_at
        )
        event = new_event(
            SESSION_OPENED_SUBJECT,
            opened,
            tenant_id=tenant_id,
            ordering_key=operator.id,
            source=BACKOFFICE_SOURCE,
            clock=self.clock,
            traceparent=current_traceparent(),
        )
        entry = Entry(
            entity_type="session",
            entity_id=session_id,
            action="opened",
            actor=operator.id,
            after={"operator_id": operator.id, "device_id": device_id, "how": how, "expires_at": expires_at},
        )
        async with self.db.scoped(tenant_id) as tx:
            if device is None:
                new = Device(id=device_id, tenant_id=tenant_id, secret_hash=device_hash)
                await store.insert_device(tx, new, now=now)
            else:
                await store.touch_device(tx, device_id, now=now)
                await self.ender.end(tx, reason="replaced", actor=operator.id, device_id=device_id)
            await store.insert_session(tx, session)
            await self.outbox.append(tx, [event])
            await self.audit.append(tx, [entry])
        return OpenedSession(session=session, secret=secret, device_secret=device_secret)

    async def _hashed(self, kind: str, tenant_id: TenantId | None, value: str | None) -> str | None:
        return None if not value else await self.pepper.hash(kind, tenant_id, value)


async def hash_token(pepper: OperatorPepper, session: OperatorSession, secret: str) -> str:
    """What is kept of a session's secret, bound to whose session it is, where and until when."""
    until = session.expires_at.isoformat()
    return await pepper.hash(
        "session", session.id, session.tenant_id, session.operator_id, session.device_id, until, secret
    )


async def sealed(pepper: OperatorPepper, session: OperatorSession, secret: str) -> OperatorSession:
    """The session with the hash of its secret."""
    return replace(session, token_hash=await hash_token(pepper, session, secret))
