"""Operators, sessions and attestations as JSON: what requests bring and answers show."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.backoffice.attestations.actions import AttestedAction
from tidings.backoffice.operators.model import MadeLink, OperatorRecord, OperatorStatus, Rights
from tidings.backoffice.operators.people import OperatorPerson
from tidings.backoffice.operators.prove import MOST_OF_A_CODE
from tidings.backoffice.properties.access import MOST_PROPERTIES, PropertyRight, in_order
from tidings.backoffice.sessions.model import OperatorSession
from tidings.contracts.backoffice import ForceLogoutScope
from tidings.contracts.moments import Moment
from tidings.contracts.text import Label
from tidings.kernel.db import CallerRole
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import by_name

Email = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=254,
        pattern=r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+\Z",
        description="must be an email address such as laila@example.com",
    ),
]
#: Ids of properties that an operator may see; `*`: every property of the tenant, those of tomorrow too.
Properties = Annotated[list[PropertyRight], Meta(max_length=MOST_PROPERTIES)]
#: Of an authenticator, a recovery code, or a passkey's answer as JSON.
Code = Annotated[str, Meta(min_length=6, max_length=MOST_OF_A_CODE)]


class InviteOperator(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who is to become an operator, and what they may."""

    name: Label
    email: Email
    role: CallerRole
    #: Ids of properties that they may see; `*`: every one of the tenant. Left out: none.
    properties: Properties = []
    #: Send the link to them, by a message of the tenant; it is in the answer as well.
    by_mail: bool = False
    #: The language of that message, such as `fa-AF`.
    language: Annotated[str, Meta(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*\Z", max_length=35)] = "en"

    def person(self) -> OperatorPerson:
        """Who they are."""
        return OperatorPerson(name=self.name, email=self.email)

    def rights(self) -> Rights:
        """What they may."""
        return Rights(role=self.role, properties=in_order(self.properties))


class ChangeOperator(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is different; what is left out stays."""

    role: CallerRole | UnsetType = UNSET
    #: All that they may see from now on.
    properties: Properties | UnsetType = UNSET

    def rights(self, operator: OperatorRecord) -> Rights:
        """What the operator may afterwards."""
        return Rights(
            role=operator.role if self.role is UNSET else self.role,
            properties=operator.properties if self.properties is UNSET else in_order(self.properties),
        )


class OperatorView(Struct, frozen=True, kw_only=True):
    """An operator, as admins see them."""

    id: str
    #: Null: an operator of the platform.
    tenant_id: str | None
    #: Null once erased, and when an Idempotency-Key repeats the answer to an invitation.
    name: str | None
    #: Null where the name is.
    email: str | None
    role: CallerRole
    #: Ids of properties that they may see; `*`: every one of the tenant.
    properties: list[str]
    status: OperatorStatus
    has_second_factor: bool
    #: How many recovery codes are left.
    recovery_codes: int
    locked_until: Moment | None
    #: Until when their invitation works; null where there is none.
    invitation_expires_at: Moment | None
    created_by: str
    created_at: Moment
    erased_at: Moment | None
    version: int

    @classmethod
    def of(cls, operator: OperatorRecord, person: OperatorPerson | None) -> "OperatorView":
        """The operator, with what they are called."""
        return by_name(
            cls,
            operator,
            name=person.name if person else None,
            email=person.email if person else None,
            properties=list(operator.properties),
            recovery_codes=len(operator.recovery_hashes),
            invitation_expires_at=operator.link_expires_at if operator.link_kind == "join" else None,
        )


class InvitedOperator(Struct, frozen=True, kw_only=True):
    """An operator with their link, which is shown this once."""

    operator: OperatorView
    #: Give it to them, and to nobody else. Null when an Idempotency-Key repeats the answer.
    join_url: str | None
    expires_at: Moment
    #: Whether it is on its way to them by mail; where not, pass it on yourself.
    is_mailed: bool

    @classmethod
    def of(
        cls,
        operator: OperatorRecord,
        person: OperatorPerson | None,
        made: MadeLink,
        base_url: str,
        *,
        is_mailed: bool = False,
    ) -> "InvitedOperator":
        """The operator and the link."""
        return cls(
            operator=OperatorView.of(operator, person),
            join_url=made.url(base_url),
            expires_at=made.expires_at,
            is_mailed=is_mailed,
        )

    def again(self) -> "InvitedOperator":
        """The answer to a repeated request. It is kept unsealed: the link is not in it, nor are name and mail."""
        nameless = msgspec.structs.replace(self.operator, name=None, email=None)
        return msgspec.structs.replace(self, operator=nameless, join_url=None)


class OwnSession(Struct, frozen=True, kw_only=True):
    """Who is signed in, where, and what they may."""

    operator_id: str
    name: str | None
    role: CallerRole
    #: Null: an operator of the platform.
    tenant_id: str | None
    tenant_name: str | None
    scopes: list[str]
    #: Ids of properties that they may see; `*`: every one of the tenant.
    properties: list[str]
    session_id: str
    device_id: str
    expires_at: Moment | None
    #: Send it in the header X-CSRF-Token with every request that changes something.
    csrf_token: str


class SessionView(Struct, frozen=True, kw_only=True):
    """A session that is open."""

    id: str
    operator_id: str
    device_id: str
    opened_at: Moment
    expires_at: Moment
    #: Whether it is the one that asks.
    is_own: bool

    @classmethod
    def of(cls, session: OperatorSession, own_id: str | None) -> "SessionView":
        """The session, as one of them sees it."""
        return by_name(cls, session, is_own=session.id == own_id)


class ListSessions(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose sessions are wanted."""

    operator_id: Annotated[
        str | None,
        Meta(
            description="Only this operator's, or `all`; left out: your own. Others' need `operators:read`."
        ),
    ] = None


class ForceLogoutOrder(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose sessions are to end."""

    #: `operator` and `device` with a target; `tenant`: all of this tenant; `all`: of everybody, for the platform alone.
    scope: ForceLogoutScope
    #: The operator's or the device's id.
    target: Annotated[str, Meta(min_length=1, max_length=64)] | None = None


class ForcedOut(Struct, frozen=True, kw_only=True):
    """What came of it."""

    #: How many sessions were open, and are not any more.
    sessions: int


class MakeAttestation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be attested, and the second factor."""

    action: AttestedAction
    #: The code of your authenticator, a recovery code, or the `toJSON()` of a passkey's answer to a challenge; it is used up.
    code: Code


class AttestationView(Struct, frozen=True, kw_only=True):
    """A second factor that was shown, for one action."""

    #: Send it in the header X-Attestation, once.
    id: str
    action: AttestedAction
    expires_at: Moment
