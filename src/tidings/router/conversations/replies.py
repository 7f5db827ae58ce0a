"""The use case "a keyword is to be confirmed": one message over the account that the word came by, at most once.

It passes no gate: it is the last message, and it says so.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
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
from tidings.kernel.errors import DatabaseBusyError, DatabaseError, DatabaseUnavailableError, TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.jobs import Pauses
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.router.conversations import reply_store
from tidings.router.conversations.model import Observer, Unobserved
from tidings.router.conversations.reply_store import Ended, Sending
from tidings.router.conversations.sealing import open_address, open_words
from tidings.router.vendors.simulated import SIMULATED
from tidings.router.vendors.vendors import Vendors

#: How often the vendor is asked to take it, as long as it certainly has not.
_MOST_TRIES: Final = 5
_FIRST_PAUSE: Final = timedelta(seconds=5)
#: How long what became of a call is kept while the database is away.
_PATIENCE: Final = 60.0


class ReplySender:
    """Sends confirmations; no transaction is open meanwhile."""

    def __init__(
        self,
        db: Database,
        vendors: Vendors,
        *,
        keyring: Keyring,
        clock: Clock,
        observer: Observer | None = None,
    ) -> None:
        self._db = db
        self._vendors = vendors
        self._keyring = keyring
        self._clock = clock
        self._observer = observer or Unobserved()

    async def send(self, tenant_id: TenantId, worker: str, ids: Sequence[str]) -> None:
        """Send what was claimed, and write what became of each."""
        now = self._clock.now()
        async with self._db.tenant(tenant_id) as tx:
            sending = await reply_store.begin_replies(tx, ids, worker=worker, now=now)
            messages = await self._messages(tx, sending)
        if not sending:
            return
        gone = [
            Ended(id=one.id, status="failed", reason="erased") for one in sending if one.id not in messages
        ]
        by_vendor: dict[str | None, list[Sending]] = {}
        for one in sending:
            if one.id in messages:
                by_vendor.setdefault(one.vendor, []).append(one)
        sets = await asyncio.gather(
            *(self._send_set(tenant_id, vendor, some, messages) for vendor, some in by_vendor.items())
        )
        ended = [*gone, *(one for some in sets for one in some)]
        await self._write(tenant_id, worker, ended)

    async def _send_set(
        self,
        tenant_id: TenantId,
        vendor: str | None,
        sending: Sequence[Sending],
        messages: Mapping[str, OutboundMessage],
    ) -> list[Ended]:
        """Those over one vendor; whose account is another by now is not answered from a stranger's number."""
        try:
            accounts = await self._vendors.accounts.of(tenant_id)
        except DatabaseError:
            unknown = TryLater(reason="the account could not be looked up", code="account_not_found")
            return [self._ended(one, unknown) for one in sending]
        account = None if vendor is None else accounts.get(vendor)
        ended: list[Ended] = []
        real: list[Sending] = []
        simulated: list[Sending] = []
        for one in sending:
            if vendor is None or account is None or account.id != one.account_id:
                ended.append(Ended(id=one.id, status="failed", reason="no_account"))
            elif self._vendors.of(vendor, messages[one.id], is_test=False) == SIMULATED:
                simulated.append(one)
            else:
                real.append(one)
        for name, some in ((vendor, real), (SIMULATED, simulated)):
            if not some or name is None:
                continue
            sent = await self._vendors.send(tenant_id, name, [messages[one.id] for one in some])
            ended += [self._ended(one, out) for one, out in zip(some, sent.outcomes, strict=True)]
        return ended

    def _ended(self, one: Sending, outcome: Outcome) -> Ended:
        match outcome:
            case Accepted():
                return Ended(id=one.id, status="sent", provider_id=outcome.provider_message_id)
            case Refused():
                return Ended(id=one.id, status="failed", reason=outcome.code)
            case Unlearned():
                return Ended(id=one.id, status="unlearned", reason="unlearned")
            case TryLater():
                if one.attempts >= _MOST_TRIES:
                    return Ended(id=one.id, status="failed", reason=outcome.code)
                return Ended(
                    id=one.id, status="queued", reason=outcome.code, next_at=self._later(one, outcome)
                )

    def _later(self, one: Sending, outcome: TryLater) -> datetime:
        """Nothing was sent, and that is certain: it may be tried again."""
        pause: timedelta = _FIRST_PAUSE * 4 ** (one.attempts - 1)
        return self._clock.now() + max(pause, outcome.after or timedelta(0))

    async def _messages(self, tx: TenantTx, sending: Sequence[Sending]) -> dict[str, OutboundMessage]:
        """As vendors get them; one whose words or address can't be read any more is left out."""
        subjects = {s for one in sending for s in (one.key_subject, one.address_subject) if s is not None}
        keys = await self._keyring.data_keys(tx, subjects, create=False) if subjects else {}
        found: dict[str, OutboundMessage] = {}
        for one in sending:
            message = _message(tx.tenant_id, one, keys)
            if message is not None:
                found[one.id] = message
        return found

    async def _write(self, tenant_id: TenantId, worker: str, ended: Sequence[Ended]) -> None:
        """Again and again while the database is away: an answer that was learned is not forgotten."""
        give_up_at = self._clock.monotonic() + _PATIENCE
        pauses = Pauses(first=0.05, longest=2.0)
        while True:
            try:
                async with self._db.tenant(tenant_id) as tx:
                    written = await reply_store.end_replies(tx, ended, worker=worker, now=self._clock.now())
                break
            except (DatabaseUnavailableError, DatabaseBusyError):
                self._observer.failed("confirmations")
                if self._clock.monotonic() >= give_up_at:
                    raise
                await self._clock.sleep(pauses.after_failure())
        counts = Counter(one.status for one in ended if one.id in written)
        for status, count in counts.items():
            self._observer.confirmed(status, count)


def _message(tenant_id: TenantId, one: Sending, keys: Mapping[str, DataKey]) -> OutboundMessage | None:
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
