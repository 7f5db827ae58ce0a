"""Signing in by the house's identity provider: whoever it names by a verified mail, and is an operator or invited here."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from tidings.backoffice.ids import OperatorId
from tidings.backoffice.oidc.errors import OidcFailedError, OidcReason
from tidings.backoffice.oidc.provider import Begun, IdentityProvider
from tidings.backoffice.operators import store
from tidings.backoffice.operators.ledger import OperatorLedger
from tidings.backoffice.operators.model import OperatorRecord
from tidings.backoffice.operators.people import OperatorPeople
from tidings.backoffice.sessions.model import OpenedSession
from tidings.backoffice.sessions.open import SessionOpener
from tidings.backoffice.sign_in.back_off import SignInLimits
from tidings.backoffice.sign_in.errors import SignInRefusedError, Why
from tidings.backoffice.sign_in.sign_in import Passed
from tidings.backoffice.sign_in.ticket import Choice, SignInTickets
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import NotAllowedError

_log = get_logger("backoffice")
_WHY: Final[Mapping[OidcReason, Why]] = {"away": "provider_away", "mail": "provider_mail"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OidcSignIn:
    """The provider proves who they are; what they may is ours to say."""

    db: Database
    provider: IdentityProvider
    people: OperatorPeople
    ledger: OperatorLedger
    limits: SignInLimits
    tickets: SignInTickets
    opener: SessionOpener
    gate: TenantGate
    clock: Clock

    async def begin(self, *, place: str) -> Begun:
        """Send somebody to the provider."""
        self._wait_of(place)
        try:
            return await self.provider.begin()
        except OidcFailedError as failed:
            raise _refused(failed) from None

    async def finish(
        self, kept: str | None, *, state: str, code: str, device_cookie: str | None, place: str
    ) -> OpenedSession | Passed:
        """A session; or, for who works for several tenants, the choice between them."""
        self._wait_of(place)
        try:
            named = await self.provider.finish(kept, state=state, code=code)
        except OidcFailedError as failed:
            raise _refused(failed) from None
        email_hash = await self.people.hash_email(named.email)
        async with self.db.platform() as tx:
            found = await store.find_by_email(tx, email_hash)
        now = self.clock.now()
        known = [one for one in found if _may_come(one, now) and await self.ledger.holds(one)]
        if not known:
            raise SignInRefusedError("unknown")
        if len(known) == 1:
            return await self._open(known[0].tenant_id, known[0].id, device_cookie)
        choices = [Choice.of(one) for one in known]
        return Passed(ticket=await self.tickets.make(choices, "oidc"), choices=tuple(choices))

    async def choose(
        self, ticket: str, chosen: str, *, device_cookie: str | None, place: str
    ) -> OpenedSession:
        """A session as the one of them that was chosen."""
        self._wait_of(place)
        for one in await self.tickets.read(ticket, "oidc"):
            if one.operator_id == chosen:
                return await self._open(one.tenant_id, one.operator_id, device_cookie)
        raise SignInRefusedError("over")

    async def _open(
        self, tenant_id: TenantId | None, operator_id: OperatorId, device_cookie: str | None
    ) -> OpenedSession:
        if tenant_id is not None:
            try:
                await self.gate.check(tenant_id, writes=False)
            except NotAllowedError:
                raise SignInRefusedError("suspended") from None
        async with self.db.scoped(tenant_id) as tx:
            operator = await self.ledger.lock(tx, operator_id)
            if operator is None or not _may_come(operator, self.clock.now()):
                raise SignInRefusedError("unknown")
            if operator.status == "invited":
                # The provider has proven their mail, to which the invitation went.
                joined = replace(operator.without_link(), status="active")
                operator = await self.ledger.save(tx, operator, joined, action="joined", actor=operator.id)
            else:
                operator = await self.ledger.save(
                    tx, operator, operator.passed(), action=None, actor=operator.id
                )
        return await self.opener.open(operator, device_cookie, how="oidc")

    def _wait_of(self, place: str) -> None:
        wait = self.limits.wait_of_place(place)
        if wait is not None:
            raise SignInRefusedError("busy", retry_after=wait)


def _may_come(operator: OperatorRecord, now: datetime) -> bool:
    """Operators whom no wrong codes lock out, and who has an invitation that works."""
    if operator.status == "invited":
        until = operator.link_expires_at
        return operator.link_kind == "join" and until is not None and now < until
    return operator.may_sign_in() and not operator.is_locked_by_codes(now)


def _refused(failed: OidcFailedError) -> SignInRefusedError:
    _log.warning("operator_oidc_failed", reason=failed.reason)
    return SignInRefusedError(_WHY.get(failed.reason, "provider"))
