"""Finds the tenant of a message: the account's owner; over a shared account, of the conversation it belongs to, or of a route."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from tidings.contracts.addresses import NormalisedAddress, normalise
from tidings.contracts.tenants import Channel
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.errors import BadValueError, TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger
from tidings.kernel.mapping import by_name
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE
from tidings.router.conversations import queue
from tidings.router.conversations.hashes import AddressHashes
from tidings.router.conversations.keywords import read_keyword
from tidings.router.conversations.model import InboundMessageId
from tidings.router.conversations.queue import ClaimedInbound, ConversationAddresses
from tidings.router.conversations.sealing import Payload, open_payload

_log = get_logger("conversations")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedMessage:
    """An inbound message, opened."""

    id: InboundMessageId
    received_at: datetime
    occurred_at: datetime | None
    vendor: str
    account_id: str
    channel: Channel
    #: What was written to, in its one spelling.
    destination: str
    #: Who wrote: in the one spelling, or in the vendor's where it is no address that can be written to.
    address: NormalisedAddress = field(repr=False)
    #: Whether it can be written to.
    addressable: bool
    text: str = field(repr=False)
    kind: str
    name: str | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """A set, sorted."""

    #: In the order in which they came.
    by_tenant: dict[TenantId, list[ResolvedMessage]]
    #: Of no tenant.
    unmatched: list[ClaimedInbound]
    #: What can't be opened, and never will.
    unreadable: list[ClaimedInbound]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TenantResolver:
    """Opens messages and finds their tenants."""

    db: Database
    keyring: Keyring
    hashes: AddressHashes

    async def resolve(self, tx: WorkerTx, claimed: Sequence[ClaimedInbound]) -> Resolution:
        """Sort a set; `tx` is the one that claimed it."""
        messages, unreadable = await self._opened(claimed)
        by_id = {one.id: one for one in claimed}
        shared = [message for message in messages if by_id[message.id].owner_id is None]
        found = await self._find(tx, shared) if shared else {}
        by_tenant: dict[TenantId, list[ResolvedMessage]] = {}
        unmatched: list[ClaimedInbound] = []
        for message in messages:
            one = by_id[message.id]
            tenant_id = one.owner_id or found.get(message.id) or one.route_tenant_id
            if tenant_id is None:
                unmatched.append(one)
            else:
                by_tenant.setdefault(tenant_id, []).append(message)
        return Resolution(by_tenant=by_tenant, unmatched=unmatched, unreadable=unreadable)

    async def sharers(self, tx: WorkerTx, messages: Sequence[ResolvedMessage]) -> dict[str, list[TenantId]]:
        """Which tenants wrote to these people from the shared number that they wrote to; by the message's id."""
        if not messages:
            return {}
        places = await self._places(messages)
        found = await queue.find_sharers(tx, places)
        return {str(messages[place].id): tenants for place, tenants in found.items()}

    async def _find(self, tx: WorkerTx, messages: Sequence[ResolvedMessage]) -> dict[str, TenantId]:
        """The tenants that these people talk with over a shared account."""
        places = await self._places(messages)
        found = {messages[place].id: tenant for place, tenant in (await queue.find_open(tx, places)).items()}
        # STOP must be heard also when the conversation is over, and START comes after its end by its nature.
        late = [
            (message, place)
            for message, place in zip(messages, places, strict=True)
            if message.id not in found and read_keyword(message.text) is not None
        ]
        if late:
            last = await queue.find_last(tx, [place for _, place in late])
            found |= {late[place][0].id: tenant for place, tenant in last.items()}
        # Conversations are forgotten sooner than the law forgets who wrote.
        forgotten = [
            (message, place)
            for message, place in late
            if message.id not in found
            and (keyword := read_keyword(message.text)) is not None
            and keyword.action == "stop"
        ]
        if forgotten:
            sharers = await queue.find_sharers(tx, [place for _, place in forgotten])
            found |= {forgotten[place][0].id: tenants[0] for place, tenants in sharers.items()}
        return {str(message_id): tenant for message_id, tenant in found.items()}

    async def _places(self, messages: Sequence[ResolvedMessage]) -> list[ConversationAddresses]:
        pepper = await self.hashes.platform_pepper()
        return [
            ConversationAddresses(
                channel=message.channel,
                destination=message.destination,
                hash=pepper.hash(message.address),
                at=message.received_at,
            )
            for message in messages
        ]

    async def _opened(
        self, claimed: Sequence[ClaimedInbound]
    ) -> tuple[list[ResolvedMessage], list[ClaimedInbound]]:
        async with self.db.platform() as tx:
            boxes = await queue.load_payloads(tx, [one.id for one in claimed])
            key = await self.keyring.platform_key(tx, PLATFORM_PURPOSE)
        messages: list[ResolvedMessage] = []
        unreadable: list[ClaimedInbound] = []
        for one in claimed:
            payload = _payload(key, one.id, boxes.get(one.id))
            if payload is None:
                unreadable.append(one)
            else:
                messages.append(_message(one, payload))
        return messages, unreadable


def _payload(key: DataKey, message_id: str, box: bytes | None) -> Payload | None:
    if box is None:
        return None
    try:
        return open_payload(key, message_id, box)
    except (TidingsError, msgspec.DecodeError) as error:
        _log.error("inbound_unreadable", message_id=message_id, error=type(error).__name__)
        return None


def _message(one: ClaimedInbound, payload: Payload) -> ResolvedMessage:
    address, addressable = _address(one.channel, payload.sender)
    return by_name(
        ResolvedMessage,
        one,
        occurred_at=payload.occurred_at,
        address=address,
        addressable=addressable,
        text=payload.text,
        kind=payload.kind,
        name=payload.sender_name,
    )


def _address(channel: str, sender: str) -> tuple[NormalisedAddress, bool]:
    """In its one spelling. Vendors write numbers with and without the plus; a short code or a name can't be written to."""
    bare = sender.strip().removeprefix(f"{channel}:")
    tries = (bare, f"+{bare}") if bare.isdecimal() and channel in {"sms", "whatsapp", "voice"} else (bare,)
    for text in tries:
        try:
            return normalise(channel, text), True
        except BadValueError:
            continue
    return NormalisedAddress(bare[:200]), False
