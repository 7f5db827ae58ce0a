"""The use case "these people wrote to this tenant": conversations, transcript, keywords, webhook, announcements.

All of it in one transaction of the tenant: what was taken stands in the transcript under its own id, so that doing it
again, because a worker died before it was marked, does nothing.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, TypeAlias

from tidings.contracts.conversations import ConversationMessageReceived, ConversationOpened, TenantNames
from tidings.contracts.correspondence import Correspondent, Correspondents
from tidings.contracts.ids import RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import DatabaseBusyError
from tidings.kernel.events import Event
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import by_name
from tidings.kernel.outbox import Outbox
from tidings.router.conversations import store
from tidings.router.conversations.events import Announcer
from tidings.router.conversations.hashes import AddressHashes
from tidings.router.conversations.keyword_effects import apply_keywords
from tidings.router.conversations.keywords import read_keyword
from tidings.router.conversations.model import CONVERSATION, Action, Conversation, ConversationId
from tidings.router.conversations.participant import (
    Participant,
    confirmation_of,
    keyword_of,
    lines_of,
    said_of,
)
from tidings.router.conversations.resolve import ResolvedMessage
from tidings.router.conversations.shared_stop import SharedStop
from tidings.router.conversations.store import ConversationSides, Opening
from tidings.router.policies.model import DEFAULT_SESSION_TTL_SECONDS
from tidings.router.policies.policies import Policies
from tidings.router.profiles.facts import FactName, SealedId, Value, sealing_purpose
from tidings.router.profiles.proven_facts import hear

#: Queues messages of conversations for the tenant's webhooks, in the transaction that receives them; how many were queued.
QueueDeliveries: TypeAlias = Callable[
    [TenantTx, Sequence[tuple[ConversationId, ResolvedMessage]], datetime], Awaitable[int]
]
#: What a messenger's id is called in a profile.
_IDS: Final[Mapping[str, FactName]] = {"telegram": "telegram_chat_id", "viber": "viber_id"}
#: Conversations that one person may end in one transaction; the tenant's other people wait for it.
_MOST_WAVES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveResult:
    """What came of a set."""

    #: Messages that are new to the transcript.
    count: int = 0
    keywords: Counter[Action] = field(default_factory=Counter)
    #: Whether there is something to send.
    confirmations: int = 0
    deliveries: int = 0
    #: Messages that are to be taken on in another transaction.
    left: frozenset[str] = frozenset()
    #: Every STOP among them, also one that stood in the transcript already: it may hold for other tenants too.
    stops: tuple[SharedStop, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Receiver:
    """Takes sets of one tenant's messages on."""

    keyring: Keyring
    hashes: AddressHashes
    policies: Policies
    correspondents: Correspondents
    names: TenantNames
    queue_deliveries: QueueDeliveries
    #: Of the schema `chan`.
    outbox: Outbox
    clock: Clock

    async def receive(
        self, tx: TenantTx, messages: Sequence[ResolvedMessage], *, now: datetime
    ) -> ReceiveResult:
        """Take them on, in the order in which they came."""
        taken = await store.find_taken(tx, [message.id for message in messages])
        left = [message for message in messages if message.id not in taken]
        known_stops = tuple(
            SharedStop(message=message, word=keyword.word, language=keyword.language)
            for message in messages
            if (keyword := taken.get(message.id)) is not None
            and keyword.action == "stop"
            and message.addressable
        )
        if not left:
            return ReceiveResult(stops=known_stops)
        hashed = await self.hashes.of(tx, [message.address for message in left])
        waiting = [
            (message, ConversationSides(channel=message.channel, sender_id=message.destination, hashed=one))
            for message, one in zip(left, hashed, strict=True)
        ]
        # Before any row is locked, and for all waves at once: transactions never wait for each other crosswise.
        await store.lock_opt_changes(tx, await self._opting(tx, waiting))
        total = ReceiveResult(stops=known_stops)
        # What a person writes after a STOP belongs to another conversation: it has to wait until that one is closed.
        for _ in range(_MOST_WAVES):
            if not waiting:
                break
            people, waiting = await self._wave(tx, waiting)
            done = await self._take(tx, people, now)
            total = ReceiveResult(
                count=total.count + done.count,
                keywords=total.keywords + done.keywords,
                confirmations=total.confirmations + done.confirmations,
                deliveries=total.deliveries + done.deliveries,
                stops=total.stops + done.stops,
            )
        return replace(total, left=frozenset(message.id for message, _ in waiting))

    async def _opting(
        self, tx: TenantTx, waiting: Sequence[tuple[ResolvedMessage, ConversationSides]]
    ) -> list[ConversationSides]:
        """Who may have said STOP or START, by any of the tenant's policies."""
        policies = (await self.policies.within(tx)).values()
        words = [word for policy in policies for word in policy.stop_keywords]
        return [
            between
            for message, between in waiting
            if read_keyword(message.text, stop_words=words, also_usual=True) is not None
        ]

    async def _wave(
        self, tx: TenantTx, waiting: Sequence[tuple[ResolvedMessage, ConversationSides]]
    ) -> tuple[list[Participant], list[tuple[ResolvedMessage, ConversationSides]]]:
        """What each person wrote up to their first STOP, however often they say it, and the rest."""
        by_person: dict[ConversationSides, list[ResolvedMessage]] = {}
        for message, between in waiting:
            by_person.setdefault(between, []).append(message)
        sides = list(by_person)
        over = await store.close_expired(
            tx, [(between, by_person[between][0].received_at) for between in sides]
        )
        await self.outbox.append(tx, Announcer(tx.tenant_id, self.clock).closed(over))
        latest = await store.find_latest(tx, sides)
        policies = list((await self.policies.within(tx)).values())
        people: list[Participant] = []
        rest: list[tuple[ResolvedMessage, ConversationSides]] = []
        for place, between in enumerate(sides):
            person = Participant(between=between, messages=[], before=latest.get(place))
            stopped = over_now = False
            for message in by_person[between]:
                keyword = keyword_of(message, person.before, policies)
                stops = keyword is not None and keyword.action == "stop"
                # A second STOP says nothing new.
                over_now = over_now or (stopped and not stops)
                if over_now:
                    rest.append((message, between))
                    continue
                person.messages.append((message, keyword))
                stopped = stops
            people.append(person)
        return people, rest

    async def _take(self, tx: TenantTx, people: Sequence[Participant], now: datetime) -> ReceiveResult:
        await self._open(tx, people)
        await self._find_overtaken(tx, [person for person in people if person.opts_in_or_out])
        await self._recognise(tx, people)
        keys = await self._keys(tx, people)
        name = await self.names.of(tx) if any(k for p in people for _, k in p.messages) else None
        confirmed = await apply_keywords(tx, people, self.correspondents)
        theirs = [line for person in people for line in lines_of(person, keys[person.between])]
        ours = [
            confirmation_of(person, message, keyword, key=keys[person.between], name=name, now=now)
            for person, message, keyword in confirmed
        ]
        await hear(tx, _known_by_messengers(people, keys, now), now=now)
        went_on = await store.go_on(tx, [said_of(person, keys[person.between]) for person in people], now=now)
        await store.insert_lines(tx, [*theirs, *ours], now=now)
        received = [(person.conversation.id, message) for person in people for message, _ in person.messages]
        deliveries = await self.queue_deliveries(tx, received, now)
        await self.outbox.append(tx, self._events(tx, people, went_on))
        keywords: Counter[Action] = Counter(
            keyword.action for person in people for _, keyword in person.messages if keyword is not None
        )
        stops = tuple(
            SharedStop(message=message, word=keyword.word, language=keyword.language)
            for person in people
            for message, keyword in person.messages
            if keyword is not None and keyword.action == "stop" and message.addressable
        )
        return ReceiveResult(
            count=len(theirs), keywords=keywords, confirmations=len(ours), deliveries=deliveries, stops=stops
        )

    async def _open(self, tx: TenantTx, people: Sequence[Participant]) -> None:
        """Find or make the conversation of each; a second STOP belongs to the one that the first has closed."""
        for person in people:
            before = person.before
            if before is not None and before.status == "CLOSED_STOP" and person.only_stops:
                person.now, person.again = before, True
        ttl = await self._ttl(tx)
        openings = {
            person.between: Opening(
                id=CONVERSATION.new(person.messages[0][0].received_at),
                between=person.between,
                ttl_seconds=ttl,
                at=person.messages[0][0].received_at,
            )
            for person in people
            if person.now is None
        }
        if not openings:
            return
        opened = await store.open_conversations(tx, list(openings.values()))
        for person in people:
            opening = openings.get(person.between)
            if opening is None:
                continue
            between = person.between
            person.now = opened[between.channel, between.sender_id, between.hashed.hash]
            person.fresh = person.now.id == opening.id
        await self._look_again(tx, [person for person in people if person.fresh and person.opts_in_or_out])

    async def _look_again(self, tx: TenantTx, people: Sequence[Participant]) -> None:
        """No other worker opens theirs from here on. Where another worker has heard them since we looked, such as a STOP that is
        confirmed by now, all of it is done again."""
        if not people:
            return
        latest = await store.find_latest(
            tx, [person.between for person in people], besides=[person.conversation.id for person in people]
        )
        for place, person in enumerate(people):
            if _state(latest.get(place)) != _state(person.before):
                raise DatabaseBusyError("another worker has heard the same person meanwhile; try again")

    async def _find_overtaken(self, tx: TenantTx, people: Sequence[Participant]) -> None:
        """What was held up on its way undoes nothing that they said later."""
        if not people:
            return
        said = await store.find_last_opt_changes(tx, [person.between for person in people])
        for place, person in enumerate(people):
            person.find_overtaken(said.get(place, {}))

    async def _ttl(self, tx: TenantTx) -> int:
        """Of conversations that people begin."""
        policy = (await self.policies.within(tx)).get("conversational")
        return policy.session_ttl_seconds if policy is not None else DEFAULT_SESSION_TTL_SECONDS

    async def _recognise(self, tx: TenantTx, people: Sequence[Participant]) -> None:
        """The known recipients: the one that the conversation began with, or else the owner of the address."""
        unknown: list[Participant] = []
        for person in people:
            person.recipient_id = person.conversation.recipient_id
            if person.recipient_id is None and person.last.addressable:
                unknown.append(person)
        if not unknown:
            return
        found = await self.correspondents.find(
            tx,
            [
                Correspondent(channel=one.last.channel, address=one.last.address, name=one.last.name)
                for one in unknown
            ],
        )
        for person, recipient_id in zip(unknown, found, strict=True):
            person.recipient_id = recipient_id

    async def _keys(self, tx: TenantTx, people: Sequence[Participant]) -> dict[ConversationSides, DataKey]:
        """The key that seals what each wrote: their own, or the conversation's where no recipient is known or they were erased."""
        wanted = {p.between: str(p.recipient_id or p.conversation.id) for p in people}
        keys = await self.keyring.data_keys(tx, wanted.values())
        destroyed = {between for between, subject in wanted.items() if keys[subject].destroyed}
        if destroyed:
            wanted |= {p.between: str(p.conversation.id) for p in people if p.between in destroyed}
            keys |= await self.keyring.data_keys(tx, [wanted[between] for between in destroyed])
        return {between: keys[subject] for between, subject in wanted.items()}

    def _events(
        self, tx: TenantTx, people: Sequence[Participant], went_on: Sequence[Conversation]
    ) -> list[Event]:
        announcer = Announcer(tx.tenant_id, self.clock)
        after = {one.id: one for one in went_on}
        events: list[Event] = []
        for person in people:
            conversation = person.conversation
            if person.fresh:
                events.append(
                    announcer.opened(
                        ConversationOpened(
                            conversation_id=conversation.id,
                            channel=conversation.channel,
                            opened_by="recipient",
                            opened_at=conversation.opened_at,
                            recipient_id=person.recipient_id,
                        )
                    )
                )
            events += [
                announcer.received(
                    by_name(
                        ConversationMessageReceived,
                        message,
                        conversation_id=conversation.id,
                        message_id=message.id,
                        channel=conversation.channel,
                        recipient_id=person.recipient_id,
                        keyword=keyword.action if keyword is not None else None,
                    )
                )
                for message, keyword in person.messages
            ]
            if person.stops and not person.again:
                events += announcer.closed([after[conversation.id]])
        return events


def _known_by_messengers(
    people: Sequence[Participant], keys: Mapping[ConversationSides, DataKey], now: datetime
) -> dict[RecipientId, dict[FactName, tuple[Value, datetime]]]:
    """Under which id a messenger knows recipients: a person who has written can be written to."""
    learned: dict[RecipientId, dict[FactName, tuple[Value, datetime]]] = {}
    for person in people:
        fact, key = _IDS.get(person.between.channel), keys[person.between]
        # A recipient who was erased has no key any more: nothing is learned of them.
        if fact is None or person.recipient_id is None or key.subject_id != person.recipient_id:
            continue
        sealed = SealedId(
            hash=person.between.hashed.hash,
            ciphertext=key.seal(person.last.address.encode(), sealing_purpose(fact)),
        )
        learned.setdefault(person.recipient_id, {})[fact] = (sealed, min(person.last.received_at, now))
    return learned


def _state(conversation: Conversation | None) -> tuple[str, str] | None:
    return None if conversation is None else (conversation.id, conversation.status)
