"""The use case "a person said STOP to a number that tenants share": it holds for each that wrote to them from it.

The tenant that is answered takes the message on like any other. Here is what follows for the others, each in a transaction
of its own. Doing it again, because a worker died in between, changes nothing and announces nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tidings.contracts.correspondence import Correspondent, Correspondents, KeywordOptOut
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import by_name
from tidings.kernel.outbox import Outbox
from tidings.router.conversations import store
from tidings.router.conversations.events import Announcer
from tidings.router.conversations.hashes import AddressHashes
from tidings.router.conversations.resolve import ResolvedMessage
from tidings.router.conversations.store import ConversationSides


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedStop:
    """A STOP as the tenant that is answered understood it."""

    message: ResolvedMessage
    #: The word of our lists, or of the tenant's policy, and its language.
    word: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SharedStops:
    """Has a STOP hold for tenants that it was not written to."""

    hashes: AddressHashes
    correspondents: Correspondents
    #: Of the schema `chan`.
    outbox: Outbox
    clock: Clock

    async def heed(self, tx: TenantTx, stops: Sequence[SharedStop], *, now: datetime) -> None:
        """Suppress, close what is open, and announce both. A START to this tenant that was said later is their last word.

        Nothing of what was written becomes this tenant's: neither the text nor the conversation that it stands in.
        """
        hashed = await self.hashes.of(tx, [stop.message.address for stop in stops])
        sides = [
            ConversationSides(channel=stop.message.channel, sender_id=stop.message.destination, hashed=one)
            for stop, one in zip(stops, hashed, strict=True)
        ]
        await store.lock_opt_changes(tx, sides)
        said = await store.find_last_opt_changes(tx, sides)
        holding = [
            place
            for place, stop in enumerate(stops)
            if said.get(place, {}).get("start", "") < stop.message.id
        ]
        if not holding:
            return
        messages = [stops[place].message for place in holding]
        people = await self.correspondents.find(
            tx, [by_name(Correspondent, message, name=None) for message in messages]
        )
        await self.correspondents.stop(
            tx,
            [
                by_name(
                    KeywordOptOut,
                    message,
                    recipient_id=recipient_id,
                    keyword=stops[place].word,
                    language=stops[place].language,
                    conversation_id=None,
                    at=message.received_at,
                )
                for place, message, recipient_id in zip(holding, messages, people, strict=True)
            ],
        )
        latest = await store.find_latest(tx, [sides[place] for place in holding])
        going_on = [one.id for one in latest.values() if one.status == "OPEN"]
        if going_on:
            closed = await store.close_conversations(
                tx, going_on, status="CLOSED_STOP", reason="stop", now=now
            )
            await self.outbox.append(tx, Announcer(tx.tenant_id, self.clock).closed(closed))
