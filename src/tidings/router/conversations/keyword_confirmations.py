"""The use case "a keyword is to be confirmed": one message over the account that the word came by, at most once.

It passes no gate: it is the last message, and it says so.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec

from tidings.contracts.messages import (
    Accepted,
    Address,
    OutboundMessage,
    Outcome,
    Refused,
    TryLater,
    Unlearned,
)
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.errors import DatabaseBusyError, DatabaseUnavailableError, TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.router.conversations import confirmation_store
from tidings.router.conversations.confirmation_costs import (
    Reckoned,
    attempts_of,
    reckon,
    spent_on,
    taken_back,
)
from tidings.router.conversations.confirmation_store import ConfirmationResult, PendingConfirmation
from tidings.router.conversations.model import ConversationObserver
from tidings.router.conversations.retry_policy import CONFIRMATION_RETRY
from tidings.router.conversations.sealing import open_address, open_words
from tidings.router.spend import record_spend as spend
from tidings.router.vendors.vendors import Vendors

#: How long what became of a call is kept while the database is away.
_WRITE_TIMEOUT: Final = 60.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConfirmationSender:
    """Sends confirmations; no transaction is open meanwhile."""

    db: Database
    vendors: Vendors
    _: KW_ONLY
    keyring: Keyring
    clock: Clock
    observer: ConversationObserver = ConversationObserver()

    async def send(self, tenant_id: TenantId, worker: str, ids: Sequence[str]) -> None:
        """Send what was claimed, and write what became of each."""
        now = self.clock.now()
        # Before anything is noted: who can't be asked for their accounts leaves all of it for another time.
        accounts = await self.vendors.accounts.of(tenant_id)
        async with self.db.tenant(tenant_id) as tx:
            sending = await confirmation_store.begin_replies(tx, ids, worker=worker, now=now)
            messages = await self._messages(tx, sending)
            # Where the account is another by now no answer goes out from a stranger's number.
            calls = reckon(sending, messages, accounts, now=now)
            # Last: a transaction that adds to the same day at the same time waits for our commit.
            await spend.add(tx, spent_on(calls.values()))
        if not sending:
            return
        nowhere = [
            ConfirmationResult(
                id=one.id, status="failed", reason="no_account" if one.id in messages else "erased"
            )
            for one in sending
            if one.id not in calls
        ]
        by_vendor: dict[str, list[PendingConfirmation]] = {}
        for one in sending:
            if one.id in calls:
                by_vendor.setdefault(calls[one.id].vendor, []).append(one)
        sets = await asyncio.gather(
            *(self._send_set(tenant_id, vendor, some, messages) for vendor, some in by_vendor.items())
        )
        outcomes = {one.id: outcome for some in sets for one, outcome in some}
        ended = [self._ended(one, outcomes[one.id]) for one in sending if one.id in outcomes]
        made = {id_: (calls[id_], outcome) for id_, outcome in outcomes.items()}
        await self._write(tenant_id, worker, [*nowhere, *ended], made)

    async def _send_set(
        self,
        tenant_id: TenantId,
        vendor: str,
        sending: Sequence[PendingConfirmation],
        messages: Mapping[str, OutboundMessage],
    ) -> list[tuple[PendingConfirmation, Outcome]]:
        """Those over one vendor."""
        sent = await self.vendors.send(tenant_id, vendor, [messages[one.id] for one in sending])
        return list(zip(sending, sent.outcomes, strict=True))

    def _ended(self, one: PendingConfirmation, outcome: Outcome) -> ConfirmationResult:
        match outcome:
            case Accepted():
                return ConfirmationResult(id=one.id, status="sent", provider_id=outcome.provider_message_id)
            case Refused():
                return ConfirmationResult(id=one.id, status="failed", reason=outcome.code)
            case Unlearned():
                return ConfirmationResult(id=one.id, status="unlearned", reason="unlearned")
            case TryLater():
                if CONFIRMATION_RETRY.gives_up(one.attempts):
                    return ConfirmationResult(id=one.id, status="failed", reason=outcome.code)
                return ConfirmationResult(
                    id=one.id, status="queued", reason=outcome.code, next_at=self._later(one, outcome)
                )

    def _later(self, one: PendingConfirmation, outcome: TryLater) -> datetime:
        """Nothing was sent, and that is certain: it may be tried again."""
        pause = CONFIRMATION_RETRY.delay(one.attempts)
        return self.clock.now() + max(pause, outcome.after or timedelta(0))

    async def _messages(
        self, tx: TenantTx, sending: Sequence[PendingConfirmation]
    ) -> dict[str, OutboundMessage]:
        """As vendors get them; one without readable words or address is left out."""
        subjects = {s for one in sending for s in (one.key_subject, one.address_subject) if s is not None}
        keys = await self.keyring.data_keys(tx, subjects, create=False) if subjects else {}
        found: dict[str, OutboundMessage] = {}
        for one in sending:
            message = _message(tx.tenant_id, one, keys)
            if message is not None:
                found[one.id] = message
        return found

    async def _write(
        self,
        tenant_id: TenantId,
        worker: str,
        ended: Sequence[ConfirmationResult],
        calls: Mapping[str, tuple[Reckoned, Outcome]],
    ) -> None:
        """Again and again while the database is away: an answer that was learned is not forgotten."""
        give_up_at = self.clock.monotonic() + _WRITE_TIMEOUT
        backoff = Backoff(first=0.05, longest=2.0)
        while True:
            try:
                async with self.db.tenant(tenant_id) as tx:
                    now = self.clock.now()
                    written = await confirmation_store.end_replies(tx, ended, worker=worker, now=now)
                    made = [calls[id_] for id_ in sorted(written & calls.keys())]
                    if made:
                        await confirmation_store.insert_attempts(tx, attempts_of(made), now=now)
                        await spend.add(tx, taken_back(made))
                break
            except (DatabaseUnavailableError, DatabaseBusyError):
                self.observer.failed("confirmations")
                if self.clock.monotonic() >= give_up_at:
                    raise
                await self.clock.sleep(backoff.after_failure())
        counts = Counter(one.status for one in ended if one.id in written)
        for status, count in counts.items():
            self.observer.confirmed(status, count)


def _message(
    tenant_id: TenantId, one: PendingConfirmation, keys: Mapping[str, DataKey]
) -> OutboundMessage | None:
    words_key, address_key = keys.get(one.key_subject or ""), keys.get(one.address_subject or "")
    if words_key is None or address_key is None or one.ciphertext is None or one.address is None:
        return None
    try:
        words = open_words(words_key, one.id, one.ciphertext)
        to = open_address(address_key, one.conversation_id, one.address)
    except (TidingsError, msgspec.DecodeError):
        return None
    return OutboundMessage(
        message_id=one.id,
        tenant_id=tenant_id,
        channel=one.channel,
        sender=Address(value=one.sender_id),
        to=to,
        text=words.text,
        urgent=True,
    )
