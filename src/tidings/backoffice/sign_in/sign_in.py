"""Signing in: mail and password, then a code, or a passkey alone; the same answer, and the same work, for a mail that nobody has."""

from dataclasses import dataclass

from tidings.backoffice.credentials.passwords import Passwords
from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.credentials.tokens import read_link
from tidings.backoffice.operators import store
from tidings.backoffice.operators.ledger import OperatorLedger
from tidings.backoffice.operators.links import OperatorLinks
from tidings.backoffice.operators.model import OperatorRecord
from tidings.backoffice.operators.people import OperatorPeople
from tidings.backoffice.operators.prove import ProofChecker
from tidings.backoffice.passkeys.answers import read_answer
from tidings.backoffice.passkeys.verify import PasskeyVerifier
from tidings.backoffice.sessions.devices import KnownDevices
from tidings.backoffice.sessions.model import OpenedSession
from tidings.backoffice.sessions.open import SessionOpener
from tidings.backoffice.sign_in.back_off import SignInLimits
from tidings.backoffice.sign_in.errors import SignInRefusedError
from tidings.backoffice.sign_in.ticket import Choice, SignInTickets
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import NotAllowedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A password was right; which of these they are is asked along with the code."""

    ticket: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SignIn:
    """Lets operators in."""

    db: Database
    people: OperatorPeople
    passwords: Passwords
    proofs: ProofChecker
    passkeys: PasskeyVerifier
    links: OperatorLinks
    ledger: OperatorLedger
    limits: SignInLimits
    devices: KnownDevices
    pepper: OperatorPepper
    tickets: SignInTickets
    opener: SessionOpener
    gate: TenantGate
    clock: Clock

    async def check_password(
        self, email: str, password: str, *, device_cookie: str | None, place: str
    ) -> Passed:
        """Whoever has this mail and password, in one tenant or several; a `SignInRefusedError` where nobody has."""
        self._wait_of(place)
        email_hash = await self.people.hash_email(email)
        async with self.db.platform() as tx:
            found = await store.find_by_email(tx, email_hash)
        device_id, known_here = await self.devices.of(device_cookie, found)
        wait = await self.limits.wait_for(
            email_hash,
            await self.pepper.hash("place", place),
            device_id=device_id if known_here else None,
        )
        if wait is not None:
            raise SignInRefusedError("busy", retry_after=wait)
        right: list[OperatorRecord] = []
        wrong: list[OperatorRecord] = []
        # Nobody: the same work for a password that is not there.
        asked: list[OperatorRecord | None] = [
            one for one in found if one.password_hash and await self.ledger.holds(one)
        ]
        for operator in asked or [None]:
            kept = None if operator is None else operator.password_hash
            fits = await self.passwords.fits(kept, password)
            if operator is not None:
                (right if fits and operator.may_sign_in() else wrong).append(operator)
        now = self.clock.now()
        locked = [
            one
            for one in right
            if (one.is_locked_by_codes(now) if one.id in known_here else one.is_locked(now))
        ]
        open_ = [one for one in right if one not in locked]
        if open_ or locked:
            for operator in wrong:
                await self._note(operator)
        if open_:
            choices = [Choice.of(one) for one in open_]
            return Passed(ticket=await self.tickets.make(choices), choices=tuple(choices))
        if not locked:
            for operator in wrong:
                await self._fail(operator)
        # Only who has the password is told that it would have been the right one.
        raise SignInRefusedError("locked" if locked else "wrong")

    async def finish(
        self, ticket: str, chosen: str | None, code: str, *, device_cookie: str | None, place: str
    ) -> OpenedSession:
        """A session, once the code is right too; `chosen` is an operator's id, where the password is that of several."""
        choices = await self.tickets.read(ticket)
        if not choices:
            raise SignInRefusedError("over")
        choice = next(
            (one for one in choices if one.operator_id == chosen), choices[0] if len(choices) == 1 else None
        )
        if choice is None:
            raise SignInRefusedError("code")
        self._wait_of(place)
        await self._check_tenant(choice.tenant_id)
        holder = await self._holder(choice)
        if holder is None:
            raise SignInRefusedError("over")
        _, known_here = await self.devices.of(device_cookie, [holder])
        proof = await self.proofs.check(
            choice.tenant_id, choice.operator_id, code, by="own_browser" if known_here else "stranger"
        )
        if proof != "right":
            raise SignInRefusedError({"locked": "locked", "missing": "no_factor"}.get(proof, "code"))  # type: ignore[arg-type]
        operator = await self._holder(choice)
        if operator is None or operator.status != "active":
            raise SignInRefusedError("over")
        return await self.opener.open(operator, device_cookie, how="password")

    async def by_passkey(self, shown: str, *, device_cookie: str | None, place: str) -> OpenedSession:
        """A session for a passkey whose authenticator knows its owner: that is both factors."""
        self._wait_of(place)
        answer = read_answer(shown)
        passkey = None if answer is None else await self.passkeys.whose(answer)
        if passkey is None:
            raise SignInRefusedError("passkey")
        await self._check_tenant(passkey.tenant_id)
        async with self.db.scoped(passkey.tenant_id) as tx:
            operator = await store.lock_operator(tx, operator_id=passkey.operator_id)
            if operator is None or not operator.may_sign_in() or not await self.ledger.holds(operator):
                raise SignInRefusedError("passkey")
            # Wrong passwords are anybody's; who has the key is let in.
            if operator.is_locked_by_codes(self.clock.now()):
                raise SignInRefusedError("locked")
            signed = await self.ledger.save(tx, operator, operator.passed(), action=None, actor=operator.id)
        return await self.opener.open(signed, device_cookie, how="passkey")

    async def open_by_link(self, text: str, *, device_cookie: str | None, place: str) -> OpenedSession:
        """A session for a link that the installation made; the link is used up by it."""
        self._wait_of(place)
        link = read_link(text)
        if link is None:
            raise SignInRefusedError("over")
        await self._check_tenant(link.tenant_id)
        async with self.db.scoped(link.tenant_id) as tx:
            operator = await self.links.find(tx, text, "open", lock=True)
            if operator is None or operator.status != "active":
                raise SignInRefusedError("over")
            used = await self.ledger.save(
                tx, operator, operator.without_link(), action="link.used", actor=operator.id
            )
        return await self.opener.open(used, device_cookie, how="link")

    def _wait_of(self, place: str) -> None:
        wait = self.limits.wait_of_place(place)
        if wait is not None:
            raise SignInRefusedError("busy", retry_after=wait)

    async def _holder(self, choice: Choice) -> OperatorRecord | None:
        """Whose ticket it is; None where they have another password by now, or may not sign in."""
        async with self.db.scoped(choice.tenant_id) as tx:
            operator = await store.find_operator(tx, operator_id=choice.operator_id)
        if operator is None or not (operator.may_sign_in() and choice.fits(operator)):
            return None
        return operator if await self.ledger.holds(operator) else None

    async def _check_tenant(self, tenant_id: TenantId | None) -> None:
        if tenant_id is not None:
            try:
                await self.gate.check(tenant_id, writes=False)
            except NotAllowedError:
                raise SignInRefusedError("suspended") from None

    async def _note(self, operator: OperatorRecord) -> None:
        """Audit a wrong password of somebody whose mail fits elsewhere, and count it not: many have one password for each tenant."""
        async with self.db.scoped(operator.tenant_id) as tx:
            await self.ledger.note(tx, operator, "password.refused", actor=operator.id, counted=False)

    async def _fail(self, operator: OperatorRecord) -> None:
        async with self.db.scoped(operator.tenant_id) as tx:
            present = await self.ledger.lock(tx, operator.id)
            if present is not None and present.may_sign_in() and not present.is_locked(self.clock.now()):
                await self.proofs.fail(tx, present, "password")
