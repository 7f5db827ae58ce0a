"""An API key: its form, its life, and what one caller may give to another; no I/O."""

import hashlib
import hmac
import re
import secrets
import string
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

from tidings.contracts.scope_names import SCOPES
from tidings.contracts.scopes import ROLE_SCOPES, effective_scopes, is_platform_role
from tidings.kernel.db import CallerRole
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.access.errors import EscalationError
from tidings.notify.ids import API_KEY, ApiKeyId

Environment = Literal["live", "test"]

_LETTERS = string.ascii_letters + string.digits
#: 43 letters out of 62 are 256 bits.
_SECRET_LENGTH = 43
_CREDENTIAL = re.compile(rf"tdk_([0-9A-HJKMNP-TV-Z]{{26}})_([A-Za-z0-9]{{{_SECRET_LENGTH}}})")


#: Beyond that, leave the end out.
LONGEST_LIFE = timedelta(days=3660)


class KeyState(StrEnum):
    """Where a key stands."""

    ACTIVE = "active"
    #: It has a successor and works until the overlap ends.
    ROTATED = "rotated"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it is kept: everything but its secret."""

    id: ApiKeyId
    #: None: a key of the platform.
    tenant_id: TenantId | None
    name: str
    secret_hash: str = field(repr=False)
    scopes: frozenset[str]
    role: CallerRole
    #: Test keys never reach a vendor.
    environment: Environment
    created_by: str
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None
    rotated_from: ApiKeyId | None = None
    rotated_to: ApiKeyId | None = None
    #: After a rotation it works until then.
    overlap_ends_at: datetime | None = None
    version: int = 1
    #: Proof that the application wrote all of this (`seals.py`); None for a row that the application did not write.
    seal: bytes | None = field(default=None, repr=False)

    def state(self, now: datetime) -> KeyState:
        """Where it stands at `now`."""
        if self.revoked_at is not None and self.revoked_at <= now:
            return KeyState.REVOKED
        if self.expires_at is not None and self.expires_at <= now:
            return KeyState.EXPIRED
        if self.overlap_ends_at is not None:
            return KeyState.ROTATED if now < self.overlap_ends_at else KeyState.EXPIRED
        return KeyState.ACTIVE

    def usable(self, now: datetime) -> bool:
        """Whether the access guard accepts it at `now`."""
        return self.state(now) in (KeyState.ACTIVE, KeyState.ROTATED)

    def opened_by(self, secret: str) -> bool:
        """Whether this is its secret; takes as long for a near miss as for a wild guess."""
        return hmac.compare_digest(hash_secret(secret), self.secret_hash)

    def caller(self) -> Caller:
        """Who calls with this key: its scopes, as far as its role allows them."""
        return Caller(
            kind="key",
            id=self.id,
            home=self.tenant_id,
            role=self.role,
            scopes=effective_scopes(self.role, self.scopes),
            environment=self.environment,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySpec:
    """A key that a caller asks for."""

    name: str
    role: CallerRole
    #: None: all that the role can hold and the one who grants it has.
    scopes: frozenset[str] | None = None
    environment: Environment = "live"
    expires_at: datetime | None = None


def new_secret() -> str:
    """256 random bits, in letters and digits so that a double click selects them."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_SECRET_LENGTH))


def hash_secret(secret: str) -> str:
    """What is kept of a secret. It is random and long, so one plain hash is as good as a slow one."""
    return "sha256:" + hashlib.sha256(secret.encode()).hexdigest()


def credential(key_id: ApiKeyId, secret: str) -> str:
    """The key as its owner carries it: `tdk_<id>_<secret>`."""
    return f"tdk_{key_id.removeprefix('key_')}_{secret}"


def read_credential(text: str) -> tuple[ApiKeyId, str] | None:
    """The id and the secret in a credential; None where it has not the form of one."""
    match = _CREDENTIAL.fullmatch(text)
    return (ApiKeyId(f"{API_KEY.prefix}_{match[1]}"), match[2]) if match and match[1][0] <= "7" else None


def check_spec(spec: KeySpec, *, tenant_id: TenantId | None, now: datetime) -> None:
    """Refuse what no key can be: unknown scopes, a role of the wrong side, an end in the past."""
    wrong: list[FieldError] = []
    if is_platform_role(spec.role) is not (tenant_id is None):
        side = "platform" if tenant_id is None else "tenant"
        roles = ", ".join(role for role in ROLE_SCOPES if role.startswith(side))
        wrong.append(FieldError("role", f"must be one of {roles} for a key of the {side}"))
    for scope in sorted(spec.scopes or ()):
        if scope not in SCOPES:
            wrong.append(FieldError("scopes", f"has an unknown scope: {scope[:80]}"))
        elif scope not in ROLE_SCOPES[spec.role]:
            wrong.append(FieldError("scopes", f"has {scope}, which the role {spec.role} can't hold"))
    if spec.scopes is not None and not spec.scopes:
        wrong.append(FieldError("scopes", "must name at least one scope, or be left out for all of the role"))
    wrong += expiry_faults(spec.expires_at, now)
    if wrong:
        raise InvalidError(wrong)


def expiry_faults(expires_at: datetime | None, now: datetime) -> list[FieldError]:
    """What is wrong with the end of a key's life."""
    if expires_at is None or now < expires_at <= now + LONGEST_LIFE:
        return []
    return [FieldError("expires_at", "must be in the future, and within ten years")]


def granted_scopes(spec: KeySpec, grantor: Caller | None) -> frozenset[str]:
    """The scopes that the spec comes down to."""
    if spec.scopes is not None:
        return spec.scopes
    scopes = ROLE_SCOPES[spec.role] & grantor.scopes if grantor else ROLE_SCOPES[spec.role]
    if not scopes:
        raise EscalationError("scopes", f"would be none: you have nothing yourself that {spec.role} can hold")
    return scopes


def check_end(revoker: Caller, key: ApiKey) -> None:
    """Refuse to end a key that may do more than the revoker: a limited one that leaked must not lock its owners out."""
    more = sorted((key.scopes & ROLE_SCOPES[key.role]) - revoker.scopes)
    if more:
        raise EscalationError(
            "key_id", f"may do what you may not: {', '.join(more)}; a key that may do as much can revoke it"
        )


def check_grant(
    grantor: Caller,
    *,
    role: CallerRole,
    scopes: Collection[str],
    environment: Environment,
    field_prefix: str = "",
) -> None:
    """Refuse to give more than the grantor has: scopes, role or environment."""
    missing = sorted(set(scopes) - grantor.scopes)
    if missing:
        raise EscalationError(
            f"{field_prefix}scopes", f"would give {', '.join(missing)}, which you lack yourself"
        )
    if not ROLE_SCOPES[role] <= ROLE_SCOPES[grantor.role]:
        raise EscalationError(
            f"{field_prefix}role", f"would be {role}, which is more than your own {grantor.role}"
        )
    if environment == "live" and grantor.environment == "test":
        raise EscalationError(f"{field_prefix}environment", "would be live, and your own key is a test key")
