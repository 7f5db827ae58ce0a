"""A session and its cookies; no I/O."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from tidings.backoffice.credentials.tokens import cookie_of
from tidings.backoffice.ids import DeviceId, OperatorId, SessionId
from tidings.contracts.backoffice import EndedReason
from tidings.kernel.ids import TenantId

#: From the sign-in, however busy it is.
LASTS: Final = timedelta(hours=12)
#: Names of the cookies; a secure one gets the prefix that keeps other hosts from setting it.
SESSION_COOKIE: Final = "tidings_session"
DEVICE_COOKIE: Final = "tidings_device"
#: The most that browsers keep a cookie.
DEVICE_LASTS: Final = timedelta(days=400)

SessionState = Literal["active", "expired", "revoked", "forced_out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSession:
    """A session as it is kept: everything but its secret."""

    id: SessionId
    #: None: of an operator of the platform.
    tenant_id: TenantId | None
    operator_id: OperatorId
    device_id: DeviceId
    token_hash: str = field(repr=False)
    ip_hash: str | None = None
    fingerprint_hash: str | None = None
    opened_at: datetime
    expires_at: datetime
    ended_at: datetime | None = None
    ended_reason: EndedReason | None = None

    def state(self, now: datetime) -> SessionState:
        """Where it stands at `now`."""
        if self.ended_at is not None:
            return "forced_out" if self.ended_reason == "forced_out" else "revoked"
        return "active" if now < self.expires_at else "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A browser that somebody has signed in from."""

    id: DeviceId
    tenant_id: TenantId | None
    secret_hash: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceKey:
    """The public key of a device, to which a session is bound."""

    session_id: SessionId
    device_id: DeviceId
    public_key: str
    key_hash: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSession:
    """A new session, with what its browser keeps."""

    session: OperatorSession
    secret: str = field(repr=False)
    #: None: the device has its cookie already.
    device_secret: str | None = field(default=None, repr=False)

    @property
    def session_cookie(self) -> str:
        """What the session's cookie holds."""
        return cookie_of(self.session.id, self.secret)

    @property
    def device_cookie(self) -> str | None:
        """What the device's cookie is to hold."""
        return None if self.device_secret is None else cookie_of(self.session.device_id, self.device_secret)
