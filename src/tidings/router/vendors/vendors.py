"""The vendors as the ladders see them: a set of messages for a vendor of a tenant, and what became of each."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tidings.contracts.adapters import NOT_GRANTED, Adapter, Cancels, Capabilities
from tidings.contracts.inbox import IN_APP, InboxDeliveries
from tidings.contracts.messages import OutboundMessage, Outcome, TryLater
from tidings.contracts.senders import ANY_SENDER, may_show, own_sender
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.router.accounts.accounts import Accounts
from tidings.router.accounts.model import StoredAccount
from tidings.router.traffic.model import ACCOUNT_OFF
from tidings.router.traffic.vendor_failures import NOT_LET_IN
from tidings.router.vendors.built_in import WITHOUT_ACCOUNT
from tidings.router.vendors.in_app import InAppAdapter
from tidings.router.vendors.learned_outcomes import OnOutcome
from tidings.router.vendors.open_adapters import OpenAdapters, UnusableError
from tidings.router.vendors.send_batch import hand_over
from tidings.router.vendors.simulated import SIMULATED, SimulatedAdapter, is_simulated

_log = get_logger("vendors")
_NOT_GRANTED = TryLater(
    reason="the sender that goes out through this account is not granted to the tenant", code=NOT_GRANTED
)
#: Makes a listener for a set: it hears of each outcome as soon as it is known, while the others are under way.
Listen: TypeAlias = Callable[[Capabilities], OnOutcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """What a set of messages came to."""

    #: Who was really called.
    vendor: str
    #: Through which account; None where there was none.
    account_id: str | None
    #: One each, in the order of the messages.
    outcomes: Sequence[Outcome]
    #: Whether the vendor tells later what became of them.
    receipts: bool = False
    #: Whether it recognises a message that is handed to it twice.
    idempotent: bool = False


class Vendors:
    """Calls vendors; whatever they or their settings do, every message has its outcome."""

    def __init__(
        self, accounts: Accounts, adapters: OpenAdapters, inboxes: InboxDeliveries | None = None
    ) -> None:
        """`inboxes`: where items of the in-app inbox go; None: there is nothing to send over it."""
        self.accounts = accounts
        self._adapters = adapters
        self._built_in: dict[str, Adapter] = {SIMULATED: SimulatedAdapter()}
        if inboxes is not None:
            self._built_in[IN_APP] = InAppAdapter(inboxes)

    @staticmethod
    def of(vendor: str, message: OutboundMessage, *, is_test: bool) -> str:
        """The vendor that the message really goes to."""
        if vendor == IN_APP:
            # A test has an inbox of its own, and nobody outside is written to.
            return vendor
        return SIMULATED if is_test or is_simulated(message.to) else vendor

    async def send(
        self,
        tenant_id: TenantId,
        vendor: str,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        listen: Listen | None = None,
    ) -> SendResult:
        """Hand a set of one tenant to one vendor."""
        try:
            account = None if vendor in WITHOUT_ACCOUNT else (await self.accounts.of(tenant_id)).get(vendor)
        except DatabaseError:
            unknown = TryLater(reason="the account could not be looked up", code="account_not_found")
            return SendResult(vendor=vendor, account_id=None, outcomes=[unknown] * len(messages))
        return await self.send_through(account, tenant_id, vendor, messages, within=within, listen=listen)

    async def send_through(
        self,
        account: StoredAccount | None,
        tenant_id: TenantId,
        vendor: str,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        listen: Listen | None = None,
    ) -> SendResult:
        """Hand a set to the vendor of one account; the set has the time that its adapter names, each of its messages `within`.

        The messages are of one tenant, or of all tenants that share an account of the platform.
        """
        built_in = self._built_in.get(vendor)
        if built_in is not None:
            on_outcome = _nobody if listen is None else listen(built_in.capabilities)
            return SendResult(
                vendor=vendor,
                account_id=None,
                outcomes=await hand_over(built_in, messages, within=within, on_outcome=on_outcome),
                receipts=built_in.capabilities.receipts,
                idempotent=built_in.capabilities.idempotent,
            )
        if account is None:
            nobody = TryLater(reason="there is no account with this vendor", code="no_account")
            return SendResult(vendor=vendor, account_id=None, outcomes=[nobody] * len(messages))
        if not account.active:
            off = TryLater(reason="the account with this vendor is switched off", code=ACCOUNT_OFF)
            return SendResult(vendor=vendor, account_id=None, outcomes=[off] * len(messages))
        receipts = idempotent = False
        try:
            async with self._adapters.borrow(account, tenant_id) as adapter:
                receipts, idempotent = adapter.capabilities.receipts, adapter.capabilities.idempotent
                named = [_with_sender(message, account) for message in messages]
                on_outcome = _nobody if listen is None else listen(adapter.capabilities)
                outcomes = await self._hand_over(
                    adapter, account, tenant_id, named, within=within, on_outcome=on_outcome
                )
        except UnusableError as error:
            unusable = TryLater(reason=str(error), code=error.code)
            outcomes = [unusable] * len(messages)
        if any(isinstance(o, TryLater) and o.code in NOT_LET_IN for o in outcomes):
            self._adapters.doubt(account.id)
        return SendResult(
            vendor=vendor, account_id=account.id, outcomes=outcomes, receipts=receipts, idempotent=idempotent
        )

    async def _hand_over(
        self,
        adapter: Adapter,
        account: StoredAccount,
        tenant_id: TenantId,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None,
        on_outcome: OnOutcome,
    ) -> Sequence[Outcome]:
        """One outcome each. A secret may have changed since the call was booked, and the sender in it: what is not granted
        any more is given back, and booked anew."""
        if not account.platform or all(ANY_SENDER in message.grants for message in messages):
            return await hand_over(adapter, messages, within=within, on_outcome=on_outcome)
        fixed = await self._adapters.fixed_senders(account, tenant_id)
        granted = [
            may_show(m.channel, m.sender.value, m.grants, handle=account.handle, fixed=fixed.get(m.channel))
            for m in messages
        ]
        places = [place for place, may in enumerate(granted) if may]
        outcomes: list[Outcome] = [_NOT_GRANTED] * len(messages)
        if places:
            sent = await hand_over(
                adapter,
                [messages[place] for place in places],
                within=within,
                on_outcome=lambda number, outcome: on_outcome(places[number], outcome),
            )
            for place, outcome in zip(places, sent, strict=True):
                outcomes[place] = outcome
        return outcomes

    async def cancel(self, tenant_id: TenantId, vendor: str, message_ids: Sequence[str]) -> set[str]:
        """Ask a vendor to call messages off; those that it did. A failure is not reported."""
        try:
            account = (await self.accounts.of(tenant_id)).get(vendor)
            if account is None:
                return set()
            async with self._adapters.borrow(account, tenant_id) as adapter:
                if not adapter.capabilities.cancel or not isinstance(adapter, Cancels):
                    return set()
                async with asyncio.timeout(adapter.longest_send.total_seconds()):
                    answers = await adapter.cancel(message_ids)
                return {one for one, gone in zip(message_ids, answers, strict=True) if gone}
        except Exception as error:  # noqa: BLE001  # a message that could not be called off is no harm
            _log.info("not_called_off", vendor=vendor, count=len(message_ids), error=type(error).__name__)
            return set()

    async def close(self) -> None:
        """End all connections."""
        await self._adapters.close()


def _nobody(_place: int, _outcome: Outcome) -> None:
    """Listens to nothing."""


def _with_sender(message: OutboundMessage, account: StoredAccount) -> OutboundMessage:
    """The same; one that names no sender comes from the shared account's own."""
    if message.sender.value or not account.platform:
        return message
    own = own_sender(message.channel, account.handle)
    return message if own is None else replace(message, sender=replace(message.sender, value=own))
