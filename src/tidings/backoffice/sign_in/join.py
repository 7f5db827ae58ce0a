"""Joining by an invitation: choose a password, set up an authenticator, keep the recovery codes."""

from dataclasses import dataclass, field, replace

from tidings.backoffice.credentials import recovery_codes, totp
from tidings.backoffice.credentials.passwords import Passwords, fault_of
from tidings.backoffice.credentials.tokens import read_link
from tidings.backoffice.operators.ledger import OperatorLedger
from tidings.backoffice.operators.links import OperatorLinks
from tidings.backoffice.operators.model import OperatorRecord
from tidings.backoffice.operators.people import OperatorPeople, OperatorPerson
from tidings.backoffice.operators.prove import ProofChecker
from tidings.backoffice.sessions.model import OpenedSession
from tidings.backoffice.sessions.open import SessionOpener
from tidings.backoffice.sign_in.back_off import SignInLimits
from tidings.backoffice.sign_in.errors import SignInRefusedError
from tidings.backoffice.sign_in.ticket import Choice, SignInTickets
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError, InvalidError, NotAllowedError


@dataclass(frozen=True, slots=True, kw_only=True)
class JoiningOperator:
    """Somebody on their way in."""

    operator: OperatorRecord
    person: OperatorPerson


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenPassword:
    """What the browser in which the password was chosen is shown, and no other that has the link."""

    person: OperatorPerson
    #: What to set up an authenticator with.
    totp_secret: bytes = field(repr=False)
    #: Goes along with the first code.
    ticket: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """An operator who has joined, signed in on this device, with the codes that are shown this once."""

    opened: OpenedSession
    recovery_codes: tuple[str, ...]


class WeakPasswordError(InvalidError):
    """The password can't be this one; `fault` says why: `short`, `long`, `common`, `own`."""

    def __init__(self, fault: str) -> None:
        super().__init__([FieldError("password", f"is refused: {fault}")])
        self.fault = fault


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Joiner:
    """The steps of joining; looking changes nothing."""

    db: Database
    links: OperatorLinks
    people: OperatorPeople
    passwords: Passwords
    proofs: ProofChecker
    ledger: OperatorLedger
    opener: SessionOpener
    tickets: SignInTickets
    limits: SignInLimits
    gate: TenantGate
    clock: Clock

    async def look(self, text: str, *, place: str) -> JoiningOperator:
        """Who was invited by this link; a `SignInRefusedError` where it does not work."""
        async with self.db.scoped(await self._side(text, place)) as tx:
            return await self._joining(tx, text)

    async def choose_password(self, text: str, password: str, *, place: str) -> ChosenPassword:
        """Keep the password, and make what the authenticator shares with us: both anew each time."""
        joining = await self.look(text, place=place)
        fault = fault_of(password, (joining.person.name, joining.person.email))
        if fault is not None:
            raise WeakPasswordError(fault)
        hashed = await self.passwords.hash(password)
        async with self.db.scoped(joining.operator.tenant_id) as tx:
            operator = (await self._joining(tx, text, lock=True)).operator
            secret = totp.new_secret()
            boxes = await self.people.seal(tx, operator.id, totp=secret)
            after = replace(operator, password_hash=hashed, totp_ciphertext=boxes["totp"], totp_step=0)
            await self.ledger.save(tx, operator, after, action="password.chosen", actor=operator.id)
        ticket = await self.tickets.make([Choice.of(after)], "join")
        return ChosenPassword(person=joining.person, totp_secret=secret, ticket=ticket)

    async def resume(self, text: str, ticket: str, *, place: str) -> ChosenPassword:
        """The same once more, for the browser that has the ticket."""
        async with self.db.scoped(await self._side(text, place)) as tx:
            joining, secret = await self._chosen(tx, text, ticket)
        return ChosenPassword(person=joining.person, totp_secret=secret, ticket=ticket)

    async def confirm(
        self, text: str, ticket: str, code: str, *, device_cookie: str | None, place: str
    ) -> Joined:
        """The authenticator shows the right code: they are an operator now, and the link works no more."""
        tenant_id = await self._side(text, place)
        codes = recovery_codes.new_codes()
        async with self.db.scoped(tenant_id) as tx:
            joining, secret = await self._chosen(tx, text, ticket, lock=True)
            operator, typed = joining.operator, "".join(code.split())
            step = totp.matching_step(secret, typed, now=self.clock.now(), after=operator.totp_step)
            if step is None:
                raise SignInRefusedError("code")
            hashes = [await self.proofs.hash_spare(operator.id, one) for one in codes]
            joined = await self.ledger.save(
                tx, operator, operator.joined(hashes, step), action="joined", actor=operator.id
            )
        opened = await self.opener.open(joined, device_cookie, how="invitation")
        return Joined(opened=opened, recovery_codes=codes)

    async def _joining(self, tx: TenantTx | PlatformTx, text: str, *, lock: bool = False) -> JoiningOperator:
        operator = await self.links.find(tx, text, "join", lock=lock)
        if operator is None or operator.status != "invited":
            raise SignInRefusedError("over")
        person = (await self.people.open(tx, [operator])).get(operator.id)
        if person is None:
            raise SignInRefusedError("over")
        return JoiningOperator(operator=operator, person=person)

    async def _chosen(
        self, tx: TenantTx | PlatformTx, text: str, ticket: str, *, lock: bool = False
    ) -> tuple[JoiningOperator, bytes]:
        """Who is joining and their authenticator's secret, for who chose the password that is kept."""
        joining = await self._joining(tx, text, lock=lock)
        choices = await self.tickets.read(ticket, "join")
        secret = await self.people.totp_secret(tx, joining.operator)
        if secret is None or not (choices and choices[0].fits(joining.operator)):
            raise SignInRefusedError("again")
        return joining, secret

    async def _side(self, text: str, place: str) -> TenantId | None:
        wait = self.limits.wait_of_place(place)
        if wait is not None:
            raise SignInRefusedError("busy", retry_after=wait)
        link = read_link(text)
        if link is None:
            raise SignInRefusedError("over")
        if link.tenant_id is not None:
            try:
                await self.gate.check(link.tenant_id, writes=False)
            except NotAllowedError:
                raise SignInRefusedError("suspended") from None
        return link.tenant_id
