"""Secrets that a browser or a link carries, and the ids beside them. No I/O."""

import re
import secrets
from typing import Final, NamedTuple

from tidings.backoffice.ids import DEVICE, OPERATOR, SESSION, DeviceId, OperatorId, SessionId
from tidings.kernel.ids import TENANT, TenantId

_ULID: Final = r"[0-7][0-9A-HJKMNP-TV-Z]{25}"
_RANDOM: Final = r"[A-Za-z0-9_-]{43}"
_SESSION: Final = re.compile(rf"{SESSION.prefix}_{_ULID}")
_DEVICE: Final = re.compile(rf"{DEVICE.prefix}_{_ULID}")
_COOKIE: Final = re.compile(rf"([a-z]+_{_ULID})\.({_RANDOM})")
_LINK: Final = re.compile(rf"({_ULID}|platform)-({_ULID})-({_RANDOM})")


class Link(NamedTuple):
    """A one-time link as it was clicked."""

    tenant_id: TenantId | None
    operator_id: OperatorId
    secret: str

    def __repr__(self) -> str:
        return f"Link({self.operator_id})"

    @property
    def text(self) -> str:
        """What stands in its address: the tenant, the operator, the secret."""
        tenant = "platform" if self.tenant_id is None else self.tenant_id.removeprefix(f"{TENANT.prefix}_")
        return f"{tenant}-{self.operator_id.removeprefix(f'{OPERATOR.prefix}_')}-{self.secret}"


def new_secret() -> str:
    """256 random bits."""
    return secrets.token_urlsafe(32)


def read_link(text: str) -> Link | None:
    """The link in an address; None where it has not the form of one."""
    match = _LINK.fullmatch(text)
    if match is None:
        return None
    tenant = None if match[1] == "platform" else TenantId(f"{TENANT.prefix}_{match[1]}")
    return Link(tenant, OperatorId(f"{OPERATOR.prefix}_{match[2]}"), match[3])


def cookie_of(id_: SessionId | DeviceId, secret: str) -> str:
    """What a cookie holds."""
    return f"{id_}.{secret}"


def read_session(text: str | None) -> tuple[SessionId, str] | None:
    """The session and the secret in a cookie; None where it has not the form of one."""
    match = _COOKIE.fullmatch(text or "")
    return (SessionId(match[1]), match[2]) if match and _SESSION.fullmatch(match[1]) else None


def read_device(text: str | None) -> tuple[DeviceId, str] | None:
    """The device and the secret in a cookie; None where it has not the form of one."""
    match = _COOKIE.fullmatch(text or "")
    return (DeviceId(match[1]), match[2]) if match and _DEVICE.fullmatch(match[1]) else None
