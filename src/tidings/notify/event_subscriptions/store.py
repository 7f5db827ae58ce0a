"""The only Python here that runs SQL: subscriptions, how far each is read, and messages that were refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec

from tidings.kernel.db import PlatformTx
from tidings.kernel.errors import AlreadyExistsError
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.notify.event_subscriptions.errors import (
    SubscriptionNameTakenError,
    UnknownEventSubscriptionError,
)
from tidings.notify.event_subscriptions.model import (
    EventSubscription,
    KeptMessage,
    MessageRefusal,
    RefusedMessage,
    SubscriptionProgress,
)
from tidings.notify.ids import EventSubscriptionId, RefusedMessageId

QUERIES = Queries.beside(__file__)
#: Refused messages of one subscription that are kept; the oldest go first.
MOST_REFUSED: Final = 1_000
#: How long: as long as events are.
REFUSED_KEPT: Final = timedelta(days=8)
#: Under which key of the platform's they are sealed.
PURPOSE: Final = "event_subscriptions"
_NAME_INDEX: Final = "ux_event_subscriptions_name"
_subscription_of = RowMapper(
    EventSubscription,
    [
        QUERIES.lock_subscription,
        QUERIES.find_subscription,
        QUERIES.all_subscriptions,
        QUERIES.list_subscriptions,
    ],
)
_progress_of = RowMapper(SubscriptionProgress, [QUERIES.find_progress])
_refused_of = RowMapper(RefusedMessage, [QUERIES.list_refused])
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(KeptMessage).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRefusal:
    """A message that is about to be kept with why it was refused."""

    id: RefusedMessageId
    position: int
    message: KeptMessage
    refusal: MessageRefusal


@dataclass(frozen=True, slots=True, kw_only=True)
class SetResult:
    """What came of a set of messages."""

    stream: str
    own_stream: bool
    position: int
    accepted: int
    repeated: int
    refused: int
    waiting: int
    last_refusal: str | None


async def insert_subscription(tx: PlatformTx, made: EventSubscription) -> None:
    """Keep a new one."""
    try:
        await tx.execute(QUERIES.insert_subscription, made)
    except AlreadyExistsError as error:
        if error.constraint == _NAME_INDEX:
            raise SubscriptionNameTakenError from None
        raise


async def count_subscriptions(tx: PlatformTx) -> int:
    """How many there are."""
    return int(await tx.fetch_value(QUERIES.count_subscriptions))


async def find_subscription(
    tx: PlatformTx, subscription_id: EventSubscriptionId, *, lock: bool = False
) -> EventSubscription:
    """One of them, held until `tx` ends where it is to be changed."""
    row = await tx.fetch_one(
        QUERIES.lock_subscription if lock else QUERIES.find_subscription, id=subscription_id
    )
    if row is None:
        raise UnknownEventSubscriptionError
    return _subscription_of(row)


async def all_subscriptions(tx: PlatformTx) -> list[EventSubscription]:
    """Those that are to be read, and those that are to be forgotten."""
    return [_subscription_of(row) for row in await tx.fetch(QUERIES.all_subscriptions)]


async def list_subscriptions(tx: PlatformTx, *, after_id: str | None, limit: int) -> list[EventSubscription]:
    """The newest first."""
    rows = await tx.fetch(QUERIES.list_subscriptions, after_id=after_id, limit=limit)
    return [_subscription_of(row) for row in rows]


async def save_subscription(tx: PlatformTx, changed: EventSubscription) -> None:
    """As it is from now on."""
    try:
        await tx.execute(QUERIES.save_subscription, changed)
    except AlreadyExistsError as error:
        if error.constraint == _NAME_INDEX:
            raise SubscriptionNameTakenError from None
        raise


async def find_progress(
    tx: PlatformTx, ids: Sequence[EventSubscriptionId]
) -> dict[EventSubscriptionId, SubscriptionProgress]:
    """How far these are read; those that never were are left out."""
    rows = await tx.fetch(QUERIES.find_progress, ids=list(ids))
    return {row["subscription_id"]: _progress_of(row) for row in rows}


async def note_set(
    tx: PlatformTx, subscription_id: EventSubscriptionId, result: SetResult, *, now: datetime
) -> None:
    """After a set."""
    await tx.execute(QUERIES.note_set, result, id=subscription_id, now=now)


async def note_reading(
    tx: PlatformTx,
    subscription_id: EventSubscriptionId,
    *,
    now: datetime,
    stream: str | None = None,
    own_stream: bool = False,
    waiting: int = 0,
    problem: str | None = None,
) -> None:
    """It is read from that stream, or there is a problem."""
    await tx.execute(
        QUERIES.note_reading,
        id=subscription_id,
        stream=stream,
        own_stream=own_stream,
        waiting=waiting,
        problem=problem,
        now=now,
    )


async def forget_subscription(tx: PlatformTx, subscription_id: EventSubscriptionId) -> None:
    """Its rows, with those of its messages."""
    await tx.execute(QUERIES.forget_subscription, id=subscription_id)


async def keep_refused(
    tx: PlatformTx,
    keyring: Keyring,
    subscription_id: EventSubscriptionId,
    refused: Sequence[NewRefusal],
    *,
    stream: str,
    most_bytes: int,
    now: datetime,
) -> None:
    """Keep why, and sealed what it was; of what is larger than an event may be, only why."""
    key = await keyring.platform_key(tx, PURPOSE)
    await tx.execute(
        QUERIES.keep_refused,
        subscription_id=subscription_id,
        stream=stream,
        now=now,
        ids=[one.id for one in refused],
        positions=[one.position for one in refused],
        sizes=[len(one.message.data) for one in refused],
        codes=[one.refusal.code for one in refused],
        fields=[one.refusal.field for one in refused],
        remedies=[one.refusal.remedy for one in refused],
        contents=[
            _sealed(key, one.message) if len(one.message.data) <= most_bytes else None for one in refused
        ],
    )
    await tx.execute(QUERIES.bound_refused, subscription_id=subscription_id, most=MOST_REFUSED)


async def list_refused(
    tx: PlatformTx, subscription_id: EventSubscriptionId, *, after_id: str | None, limit: int
) -> list[RefusedMessage]:
    """The newest first."""
    rows = await tx.fetch(
        QUERIES.list_refused, subscription_id=subscription_id, after_id=after_id, limit=limit
    )
    return [_refused_of(row) for row in rows]


async def load_refused(
    tx: PlatformTx,
    keyring: Keyring,
    subscription_id: EventSubscriptionId,
    *,
    ids: Sequence[RefusedMessageId] | None,
    after_id: str,
    limit: int,
) -> list[tuple[RefusedMessageId, KeptMessage]]:
    """The oldest after that one first, with what they say."""
    rows = await tx.fetch(
        QUERIES.load_refused,
        subscription_id=subscription_id,
        ids=None if ids is None else list(ids),
        after_id=after_id,
        limit=limit,
    )
    if not rows:
        return []
    key = await keyring.platform_key(tx, PURPOSE)
    return [(row["id"], _decode(key.unseal(row["content_ciphertext"], PURPOSE))) for row in rows]


async def settle_refused(
    tx: PlatformTx,
    subscription_id: EventSubscriptionId,
    *,
    taken: Sequence[RefusedMessageId],
    again: Sequence[tuple[RefusedMessageId, MessageRefusal]],
) -> None:
    """Those that were taken this time, and those that were refused again."""
    await tx.execute(QUERIES.settle_refused, subscription_id=subscription_id, ids=list(taken))
    await tx.execute(
        QUERIES.note_refused_again,
        subscription_id=subscription_id,
        ids=[id_ for id_, _ in again],
        codes=[refusal.code for _, refusal in again],
        fields=[refusal.field for _, refusal in again],
        remedies=[refusal.remedy for _, refusal in again],
    )


async def sweep_refused(tx: PlatformTx, *, before: datetime, limit: int) -> int:
    """Remove about so many that are older; how many went."""
    return await tx.execute(QUERIES.sweep_refused, before=before, limit=limit)


def _sealed(key: DataKey, message: KeptMessage) -> bytes:
    return key.seal(_encode(message), PURPOSE)
