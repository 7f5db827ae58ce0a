"""What the API and the pages do alike for an operator at work: who they are, ending sessions, changing colleagues."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from tidings.backoffice.attestations.actions import AttestedAction
from tidings.backoffice.attestations.attest import Attestor, seat_of
from tidings.backoffice.ids import OperatorId, SessionId
from tidings.backoffice.operators import store
from tidings.backoffice.operators.change import By, OperatorChanger
from tidings.backoffice.operators.model import MadeLink, OperatorRecord
from tidings.backoffice.operators.people import OperatorPeople, OperatorPerson
from tidings.backoffice.own_url import ConsoleUrl
from tidings.backoffice.sessions.authenticate import SessionAuthenticator
from tidings.backoffice.sessions.end import SessionEnder
from tidings.contracts.conversations import TenantNames
from tidings.contracts.operator_notices import InvitationMail, InvitationMailer
from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OpenTx, OwnerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import MissingScopeError

T = TypeVar("T")


class Whoami(NamedTuple):
    """Names for the one who asks."""

    name: str | None
    email: str | None
    tenant_name: str | None


class SeenOperator(NamedTuple):
    """An operator with what they are called."""

    operator: OperatorRecord
    person: OperatorPerson | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OperatorDesk:
    """Scopes and attestations are checked here, so that no page can forget them."""

    db: Database
    people: OperatorPeople
    changer: OperatorChanger
    attestor: Attestor
    ender: SessionEnder
    authenticator: SessionAuthenticator
    tenant_names: TenantNames
    mailer: InvitationMailer
    url: ConsoleUrl

    async def whoami(self, caller: Caller) -> Whoami:
        """What the caller and their tenant are called."""
        async with self.db.scoped(caller.home) as tx:
            operator = await store.find_operator(tx, operator_id=OperatorId(caller.id))
            people = {} if operator is None else await self.people.open(tx, [operator])
            tenant = await self.tenant_names.of(tx) if isinstance(tx, TenantTx) else None
        person = people.get(OperatorId(caller.id))
        return Whoami(
            person.name if person else None, person.email if person else None, tenant.name if tenant else None
        )

    async def mail_invitation(
        self,
        tx: TenantTx | PlatformTx,
        caller: Caller,
        operator: OperatorRecord,
        person: OperatorPerson,
        made: MadeLink,
        *,
        language: str,
    ) -> bool:
        """Send the link by a message of the tenant, with the invitation; False where that can't be. The platform has no tenant to send by."""
        if isinstance(tx, PlatformTx):
            return False
        me = await store.find_operator(tx, operator_id=OperatorId(caller.id)) if caller.home else None
        people = {} if me is None else await self.people.open(tx, [me])
        inviter = people.get(OperatorId(caller.id))
        mail = InvitationMail(
            operator_id=operator.id,
            name=person.name,
            email=person.email,
            language=language,
            inviter=inviter.name if inviter else "Tidings",
            join_url=made.url(self.url.base),
            expires_at=made.expires_at,
        )
        return await self.mailer.send(tx, mail)

    async def name_of(self, tenant_id: TenantId) -> str | None:
        """What a tenant is called, for the platform's people who act for it."""
        async with self.db.tenant(tenant_id) as tx:
            found = await self.tenant_names.of(tx)
        return found.name if found else None

    async def end_own(self, caller: Caller, session_id: SessionId) -> bool:
        """End a session of the caller's own; False where it is not one of those."""
        seat = seat_of(caller)
        async with self.db.scoped(caller.home) as tx:
            ended = await self.ender.end(
                tx,
                reason="signed_out" if session_id == seat.session_id else "revoked",
                actor=caller.actor,
                session_id=session_id,
                operator_id=seat.operator_id,
            )
        self.authenticator.forget(session_id)
        return bool(ended)

    async def end_others(
        self, caller: Caller, session_id: SessionId, open_tx: OpenTx[OwnerTx], *, attestation: str | None
    ) -> None:
        """End a session of somebody else."""
        self.check_writes(caller)
        await self.attestor.take(caller, "session.force_out", attestation)
        async with open_tx() as tx:
            await self.ender.revoke(tx, session_id, actor=caller.actor)
        self.authenticator.forget(session_id)

    async def read(
        self, tx: TenantTx | PlatformTx, *, after_id: str | None = None, limit: int
    ) -> list[SeenOperator]:
        """Operators of the tenant or the platform, the newest first."""
        found = await store.list_operators(tx, after_id=after_id, limit=limit)
        people = await self.people.open(tx, found)
        return [SeenOperator(one, people.get(one.id)) for one in found]

    async def names(self, tx: TenantTx | PlatformTx, operator_ids: Iterable[str]) -> dict[str, str]:
        """What operators of the tenant, or of the platform, are called; others and those who were erased are left out."""
        wanted = [OperatorId(one) for one in dict.fromkeys(operator_ids)]
        people = await self.people.open(tx, await store.find_operators(tx, wanted))
        return {operator_id: person.name for operator_id, person in people.items()}

    async def seen(self, tx: TenantTx | PlatformTx, operator: OperatorRecord) -> SeenOperator:
        """One of them."""
        return SeenOperator(operator, (await self.people.open(tx, [operator])).get(operator.id))

    async def attested(self, caller: Caller, action: AttestedAction, attestation: str | None) -> By:
        """Refuse an action on operators without the scope and an attestation; who does it, otherwise."""
        self.check_writes(caller)
        await self.attestor.take(caller, action, attestation)
        return By.of(caller)

    async def shut_out(
        self,
        tx: TenantTx | PlatformTx,
        change: Callable[..., Awaitable[T]],
        operator_id: OperatorId,
        *,
        by: By,
    ) -> T:
        """Make a change after which the operator is signed in nowhere."""
        changed: Any = await change(tx, operator_id, by=by)
        await self.ender.end(tx, reason="operator_changed", actor=by.actor, operator_id=operator_id)
        return changed  # type: ignore[no-any-return]

    @staticmethod
    def check_writes(caller: Caller) -> None:
        """Refuse who may not change operators."""
        if "operators:write" not in caller.scopes:
            raise MissingScopeError("operators:write")
