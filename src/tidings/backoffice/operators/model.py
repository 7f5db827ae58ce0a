"""An operator: rights, status and what follows on what; no I/O."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from tidings.backoffice.credentials.tokens import Link
from tidings.backoffice.ids import OperatorId
from tidings.backoffice.operators.errors import (
    OperatorErasedError,
    OperatorStatusError,
    RightsEscalationError,
)
from tidings.backoffice.properties.access import ALL_PROPERTIES, in_order, lacking
from tidings.contracts.scopes import ROLE_SCOPES, is_platform_role
from tidings.kernel.db import CallerRole
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError, InvalidError

OperatorStatus = Literal["invited", "active", "locked", "disabled"]
#: `join`: choose a password and an authenticator; `open`: a session at once.
LinkKind = Literal["join", "open"]
#: What was wrong.
FailedProof = Literal["password", "code"]

#: How long an invitation works.
INVITED_FOR: Final = timedelta(hours=72)
#: How long a link that opens the console works.
OPENS_FOR: Final = timedelta(minutes=15)
#: Wrong passwords, or wrong codes, in a row that lock an operator, and for how long.
MOST_FAILURES: Final = 10
LOCKED_FOR: Final = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRecord:
    """An operator as they are kept."""

    id: OperatorId
    #: None: an operator of the platform.
    tenant_id: TenantId | None
    role: CallerRole
    #: Ids of properties that they may see; `*`: all of the tenant.
    properties: tuple[str, ...] = ()
    status: OperatorStatus = "invited"
    #: Proof that the application wrote tenant, role, properties and status.
    grant_hash: str = field(default="", repr=False)
    name_ciphertext: bytes | None = field(default=None, repr=False)
    email_ciphertext: bytes | None = field(default=None, repr=False)
    email_hash: str | None = field(default=None, repr=False)
    password_hash: str | None = field(default=None, repr=False)
    totp_ciphertext: bytes | None = field(default=None, repr=False)
    totp_step: int = 0
    #: How many passkeys they have.
    passkeys: int = 0
    recovery_hashes: tuple[str, ...] = field(default=(), repr=False)
    #: Wrong passwords in a row; anybody can give them.
    failures: int = 0
    #: Wrong codes in a row; they take the password or a session.
    code_failures: int = 0
    locked_until: datetime | None = None
    link_hash: str | None = field(default=None, repr=False)
    link_kind: LinkKind | None = None
    link_expires_at: datetime | None = None
    created_by: str
    created_at: datetime
    updated_at: datetime
    erased_at: datetime | None = None
    version: int = 1

    @property
    def has_second_factor(self) -> bool:
        """Whether they have an authenticator or a passkey."""
        return self.totp_ciphertext is not None or self.passkeys > 0

    def grant(self) -> tuple[str | None, ...]:
        """What `grant_hash` is the hash of."""
        parts = (self.id, self.tenant_id, self.role, self.status)
        # Ids of properties have no comma in them.
        return (*parts, ",".join(self.properties)) if self.properties else parts

    @property
    def rights(self) -> "Rights":
        """What they may."""
        return Rights(role=self.role, properties=self.properties)

    def may_sign_in(self) -> bool:
        """Whether their password opens anything."""
        return self.status in ("active", "locked")

    def is_locked(self, now: datetime) -> bool:
        """Whether they have to wait; a lock ends by its time."""
        return self.status == "locked" and self.locked_until is not None and now < self.locked_until

    def is_locked_by_codes(self, now: datetime) -> bool:
        """Whether they have to wait even with a session, or at a browser of their own: strangers can't bring that about."""
        return self.is_locked(now) and self.code_failures >= MOST_FAILURES

    def after_lock(self, now: datetime) -> "OperatorRecord":
        """The same, active again where the time of a lock is over: failures are counted anew."""
        return self.unlocked() if self.status == "locked" and not self.is_locked(now) else self

    def failed(self, now: datetime, what: FailedProof) -> "OperatorRecord":
        """The same after one more wrong password or code."""
        known = self.after_lock(now)
        if what == "password":
            counted = replace(known, failures=known.failures + 1)
            too_many = counted.failures >= MOST_FAILURES
        else:
            counted = replace(known, code_failures=known.code_failures + 1)
            too_many = counted.code_failures >= MOST_FAILURES
        if not (too_many and self.may_sign_in()):
            return counted
        return replace(counted, status="locked", locked_until=now + LOCKED_FOR)

    def passed(self) -> "OperatorRecord":
        """The same after password and code were right."""
        known = replace(self, failures=0, code_failures=0)
        return known.unlocked() if self.status == "locked" else known

    def passed_code(self, now: datetime) -> "OperatorRecord":
        """The same after a code was right in a session: wrong passwords of others stay counted."""
        return replace(self.after_lock(now), code_failures=0)

    def unlocked(self) -> "OperatorRecord":
        """The same, who may sign in again."""
        if self.status != "locked":
            raise OperatorStatusError(f"the operator is {self.status}, and not locked")
        return replace(self, status="active", failures=0, code_failures=0, locked_until=None)

    def disabled(self) -> "OperatorRecord":
        """The same, whom no password and no link lets in."""
        if self.status == "disabled":
            raise OperatorStatusError("the operator is disabled already")
        return replace(self, status="disabled", locked_until=None).without_link()

    def enabled(self) -> "OperatorRecord":
        """The same as before they were disabled: active, or, where they never confirmed an authenticator, invited."""
        self.check_not_erased()
        if self.status != "disabled":
            raise OperatorStatusError(f"the operator is {self.status}, and not disabled")
        if self.recovery_hashes or self.totp_step > 0 or self.passkeys > 0:
            return replace(self, status="active", failures=0, code_failures=0)
        return replace(self.without_factors(), status="invited", failures=0, code_failures=0)

    def reset(self) -> "OperatorRecord":
        """The same without password, authenticator and codes: they begin anew with a link."""
        self.check_not_erased()
        if self.status == "disabled":
            raise OperatorStatusError("the operator is disabled; enable them first")
        return replace(
            self.without_factors(), status="invited", failures=0, code_failures=0, locked_until=None
        )

    def without_factors(self) -> "OperatorRecord":
        """The same without password, authenticator, passkeys and recovery codes."""
        return replace(
            self, password_hash=None, totp_ciphertext=None, totp_step=0, passkeys=0, recovery_hashes=()
        )

    def joined(self, recovery_hashes: Collection[str], step: int) -> "OperatorRecord":
        """The same once they have a password and an authenticator."""
        return replace(
            self.without_link(), status="active", recovery_hashes=tuple(recovery_hashes), totp_step=step
        )

    def with_link(self, kind: LinkKind, hashed: str, until: datetime) -> "OperatorRecord":
        """The same with a link, which takes the place of the one before; by one to join they begin at the beginning."""
        known = self.without_factors() if kind == "join" else self
        return replace(known, link_kind=kind, link_hash=hashed, link_expires_at=until)

    def without_link(self) -> "OperatorRecord":
        """The same after the link was used."""
        return replace(self, link_kind=None, link_hash=None, link_expires_at=None)

    def with_link_revoked(self) -> "OperatorRecord":
        """The same after the link was taken back: what whoever had it chose while joining goes with it."""
        return (self.without_factors() if self.status == "invited" else self).without_link()

    def erased(self, now: datetime) -> "OperatorRecord":
        """What is left: an id, for the ledgers."""
        self.check_not_erased()
        return replace(
            self.without_link().without_factors(),
            status="disabled",
            name_ciphertext=None,
            email_ciphertext=None,
            email_hash=None,
            locked_until=None,
            failures=0,
            code_failures=0,
            erased_at=now,
        )

    def check_not_erased(self) -> None:
        """Refuse what would bring back somebody whose data was removed."""
        if self.erased_at is not None:
            raise OperatorErasedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What an operator may."""

    role: CallerRole
    #: Ids of properties that they may see, sorted; `*`: all of the tenant.
    properties: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeLink:
    """A link as it is shown, once."""

    link: Link
    kind: LinkKind
    expires_at: datetime

    def url(self, base_url: str) -> str:
        """Where it leads."""
        return f"{base_url}/console/{self.kind}/{self.link.text}"


def check_rights(rights: Rights, *, tenant_id: TenantId | None, grantor: Caller | None) -> None:
    """Refuse rights of the wrong side, or more than the one has who gives them; without a grantor the installation gives them."""
    if is_platform_role(rights.role) is not (tenant_id is None):
        side = "platform" if tenant_id is None else "tenant"
        roles = ", ".join(role for role in ROLE_SCOPES if role.startswith(side))
        raise InvalidError([FieldError("role", f"must be one of {roles} for an operator of the {side}")])
    if rights.properties != in_order(rights.properties):
        raise InvalidError([FieldError("properties", "must be sorted, each once, with * alone")])
    if tenant_id is None and rights.properties not in ((), (ALL_PROPERTIES,)):
        raise InvalidError(
            [
                FieldError(
                    "properties",
                    "must be empty or * for an operator of the platform: properties belong to tenants",
                )
            ]
        )
    if grantor is None:
        return
    if not ROLE_SCOPES[rights.role] <= ROLE_SCOPES[grantor.role]:
        raise RightsEscalationError(
            "role", f"would be {rights.role}, which is more than your own {grantor.role}"
        )
    if missing := lacking(grantor.properties, rights.properties):
        raise RightsEscalationError(
            "properties", f"would have {missing[0]}, to which you have no right yourself"
        )


def check_reach(operator: OperatorRecord, changer: Caller | None) -> None:
    """Refuse to change an operator who may more than the one who changes them."""
    if changer is not None:
        check_rights(operator.rights, tenant_id=operator.tenant_id, grantor=changer)
