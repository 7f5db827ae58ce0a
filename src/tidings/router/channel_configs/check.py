"""The use case "would this account work": looked at step by step, without sending anything.

Nothing that is told holds a secret, an address of our network or a person's own.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from datetime import timedelta
from typing import Final

from tidings.contracts.adapters import Adapter, DryCalls
from tidings.contracts.failures import LOGIN_REFUSED
from tidings.contracts.ids import NOTIFICATION
from tidings.contracts.messages import Accepted, Address, OutboundMessage, Outcome, Refused, TryLater
from tidings.kernel.clock import Clock
from tidings.kernel.egress import Guard, anywhere, public_only
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.secrets import SecretResolver, SecretStoreError
from tidings.router.accounts.account_faults import NOT_OPENED, WRONG, wrong_of
from tidings.router.accounts.model import StoredAccount
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.mail.dkim import FindSigners
from tidings.router.adapters.registry import ReadAccount, read_account
from tidings.router.channel_configs.check_steps import (
    ORDER,
    TLS,
    AccountCheckStep,
    callbacks,
    failed,
    not_trusted,
    ok,
    reached_steps,
    skipped,
    tls,
    wrong_steps,
)
from tidings.router.channel_configs.hook import hook_of
from tidings.router.channel_configs.reachability import HostPort, is_encrypted, place_of, reach

_log = get_logger("adapter_check")
#: Kept free for examples (RFC 2606; numbers 555-0100 to 555-0199).
_NOBODY: Final = {"email": "nobody@example.com"}
_NOBODYS_NUMBER: Final = "+12025550123"


@dataclass(frozen=True, slots=True, kw_only=True)
class DryCall:
    """A message that the vendor is asked about, and does not send."""

    channel: str | None = None
    to: str | None = field(default=None, repr=False)
    sender: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCheck:
    """What came of a look."""

    steps: tuple[AccountCheckStep, ...]

    @property
    def ok(self) -> bool:
        """Nothing failed."""
        return all(step.result != "failed" for step in self.steps)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AccountChecker:
    """Looks at accounts as they are stored."""

    secrets: SecretResolver
    _: KW_ONLY
    clock: Clock
    #: Which addresses tenants' own accounts may reach.
    tenant_guard: Guard = public_only
    find_signers: FindSigners | None = None
    #: How long a vendor has for an answer.
    answer_timeout: timedelta = timedelta(seconds=10)
    reach_patience: timedelta = timedelta(seconds=3)
    #: Where vendors reach us, where that is set.
    public_url: str | None = None

    async def check(
        self, account: StoredAccount, tenant_id: TenantId | None, *, dry_call: DryCall | None = None
    ) -> AccountCheck:
        """One step after the other; what can't be looked at because of one before is skipped."""
        steps: list[AccountCheckStep] = []
        read = await self._read(account, tenant_id, steps)
        if read is not None:
            await self._look(account, read, dry_call, steps)
        done = {step.name for step in steps}
        why = next((step.name for step in steps if step.result == "failed"), None)
        missing = [name for name in ORDER if name not in done]
        steps += [skipped(name, f"not looked at, because of the step {why}") for name in missing]
        return AccountCheck(steps=tuple(sorted(steps, key=lambda step: ORDER.index(step.name))))

    async def _read(
        self, account: StoredAccount, tenant_id: TenantId | None, steps: list[AccountCheckStep]
    ) -> ReadAccount | None:
        try:
            read = await read_account(
                account.vendor,
                {"secret_ref": account.secret_ref},
                self.secrets,
                tenant_id=None if account.platform else tenant_id,
            )
        except SecretStoreError as error:
            steps.append(failed("secret", f"the secret can't be asked for: {error}", next="try again later"))
            return None
        except WRONG as error:
            steps += wrong_steps(wrong_of(error))
            return None
        steps.append(ok("secret", "found"))
        return read

    async def _look(
        self,
        account: StoredAccount,
        read: ReadAccount,
        dry_call: DryCall | None,
        steps: list[AccountCheckStep],
    ) -> None:
        guard = anywhere if account.platform else self.tenant_guard
        around = AdapterContext(clock=self.clock, guard=guard, find_signers=self.find_signers)
        try:
            adapter = read.open(around)
        except WRONG as error:
            steps[:] = wrong_steps(wrong_of(error))
            return
        except Exception as error:  # noqa: BLE001  # one account's odd settings are told, like any others
            _log.error("account_not_opened", account_id=account.id, error=type(error).__name__)
            steps[:] = wrong_steps([NOT_OPENED])
            return
        async with _closing(adapter):
            steps.append(ok("settings", f"read by the adapter {read.kind.name}"))
            steps.append(callbacks(hook_of(account, self.public_url), read))
            reached = await self._reach(place_of(read.settings), guard, steps)
            if reached:
                asked = await self._credentials(adapter, read)
                steps += asked
                if all(step.result != "failed" or step.name != "tls" for step in asked):
                    steps.append(await self._dry_call(adapter, read, dry_call))

    async def _reach(self, place: HostPort | None, guard: Guard, steps: list[AccountCheckStep]) -> bool:
        """Whether the vendor may be asked."""
        if place is None:
            words = (
                "where the account leads to follows from its other settings; the vendor's answer will show it"
            )
            steps += [skipped(name, words) for name in ("name", "address", "connection")]
            return True
        reached = await reach(place, guard, answer_timeout=self.reach_patience.total_seconds())
        steps += reached_steps(place, reached, guarded=guard is not anywhere)
        return bool(reached.connected)

    async def _credentials(self, adapter: Adapter, read: ReadAccount) -> list[AccountCheckStep]:
        """What the vendor says to them; and before that, whether the connection is one to say them over."""
        outcome = await self._asked(adapter.check())
        if isinstance(outcome, TryLater) and outcome.code == TLS:
            return [not_trusted(outcome.reason, settings=read.settings)]
        # Who could not be reached has shown no certificate; and with STARTTLS a refusal may come before there is one.
        first = getattr(read.settings, "security", None) == "starttls"
        asked = isinstance(outcome, Accepted) or (
            isinstance(outcome, Refused) and (not first or outcome.reason == LOGIN_REFUSED)
        )
        return [tls(encrypted=is_encrypted(read.settings), asked=asked), self._judged(outcome)]

    def _judged(self, outcome: Outcome | None) -> AccountCheckStep:
        if outcome is None:
            return skipped(
                "credentials",
                "this vendor has no question that sends nothing, or the settings name none",
                next="`tidings channel test` sends a message",
            )
        if isinstance(outcome, Accepted):
            return ok("credentials", "the vendor takes them")
        if isinstance(outcome, Refused):
            return failed(
                "credentials",
                f"the vendor does not take them: {outcome.reason}",
                next="compare them with the vendor's console; replace the secret",
                code=outcome.code,
            )
        return failed(
            "credentials",
            f"the vendor could not be asked: {outcome.reason}",
            next="try again; look at the vendor's status page",
            code=getattr(outcome, "code", None),
        )

    async def _dry_call(self, adapter: Adapter, read: ReadAccount, call: DryCall | None) -> AccountCheckStep:
        if call is None:
            return skipped("dry_call", "not asked for")
        if not isinstance(adapter, DryCalls):
            return skipped(
                "dry_call",
                "this vendor can't be asked what it would say to a message",
                next="`tidings channel test` sends one",
            )
        outcome = await self._asked(adapter.dry_call(self._message(read, call)))
        if isinstance(outcome, Accepted):
            return ok("dry_call", "the vendor would take the message; it sent nothing")
        words = "no answer" if outcome is None else outcome.reason
        return failed(
            "dry_call",
            f"the vendor would not take the message: {words}",
            next="an address or a sender of your own may be needed: name them with the call",
            code=getattr(outcome, "code", None),
        )

    async def _asked(self, question: Awaitable[Outcome | None]) -> Outcome | None:
        """What the vendor says, in time."""
        try:
            async with asyncio.timeout(self.answer_timeout.total_seconds()):
                return await question
        except TimeoutError:
            return TryLater(reason="it did not answer in time", code="late")
        except Exception as error:  # noqa: BLE001  # a mistake in one adapter must not end the look
            _log.error("adapter_fell", error=type(error).__name__)
            return TryLater(reason="the adapter fell", code="internal")

    def _message(self, read: ReadAccount, call: DryCall) -> OutboundMessage:
        channel = call.channel if call.channel in read.kind.channels else min(read.kind.channels)
        return OutboundMessage(
            message_id=NOTIFICATION.new(self.clock.now()),
            tenant_id="",
            channel=channel,
            sender=Address(value=call.sender or ""),
            to=call.to or _NOBODY.get(channel, _NOBODYS_NUMBER),
            subject="Check" if channel == "email" else None,
            text="This message checks an account, and is not sent.",
        )


@asynccontextmanager
async def _closing(adapter: Adapter) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await adapter.close()
