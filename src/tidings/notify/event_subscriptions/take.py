"""The use case "messages came": each becomes an event of its tenant, or is refused with a reason that quotes nothing of it.

A set spans tenants, as every set does. A message can only become an event of the tenant that its subscription says.
"""

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from tidings.contracts.erasure import USER_DELETED_SUBJECT
from tidings.kernel.db import CallerRole, Database
from tidings.kernel.durable.halving import SetDone, halve, in_two
from tidings.kernel.errors import (
    BadValueError,
    ConstraintError,
    DatabaseBusyError,
    MissingReferenceError,
    TidingsError,
)
from tidings.kernel.http.tenant_gate import TenantState, refusal_of
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import FieldError, InvalidError, RefusalError
from tidings.notify.event_subscriptions.model import EventSubscription, KeptMessage, MessageRefusal
from tidings.notify.received_events.intake import EventIntake
from tidings.notify.received_events.known_types import is_about_tenants
from tidings.notify.received_events.model import AcceptedEvent, CloudEvent, EventSender, RefusedEvent
from tidings.notify.received_events.read import ATTRIBUTES, read_message
from tidings.notify.tenants.errors import UnknownTenantError
from tidings.notify.tenants.store import find_named

_log = get_logger("event_subscriptions")
_ROLE: Final[CallerRole] = "tenant.admin"
_PLATFORM_ROLE: Final[CallerRole] = "platform.channel.admin"
_UNREADABLE: Final = MessageRefusal(
    code="not_storable", field="", remedy="could not be kept as it is; the log has the class of the error"
)
_FIRST_WORD: Final = re.compile(r"(?:ce-)?([a-z0-9_]+)")
_Named: TypeAlias = dict[str, tuple[TenantId, TenantState]]
#: A message on its way: its place in the set, who sends it, what it says.
_Item: TypeAlias = tuple[int, EventSender, CloudEvent]
#: What became of a message.
MessageOutcome: TypeAlias = AcceptedEvent | MessageRefusal


class MessageTaker:
    """Makes events of messages; one per process."""

    def __init__(self, *, db: Database, intake: EventIntake) -> None:
        self._db = db
        self._intake = intake

    async def take(
        self, subscription: EventSubscription, messages: Sequence[KeptMessage]
    ) -> list[MessageOutcome]:
        """What became of each, in their order; all that is an event is durable and announced when this returns."""
        named = await self._tenants(subscription, messages)
        outcomes: dict[int, MessageOutcome] = {}
        items: list[_Item] = []
        for place, message in enumerate(messages):
            try:
                sender = _sender(subscription, message, named)
                event = read_message(message.headers, message.data)
                _check(subscription, event)
            except (RefusalError, BadValueError) as error:
                outcomes[place] = reason_of(error)
            else:
                items.append((place, sender, event))
        if items:
            outcomes |= await self._accept(subscription, items)
        return [outcomes[place] for place in range(len(messages))]

    async def _tenants(self, subscription: EventSubscription, messages: Sequence[KeptMessage]) -> _Named:
        if subscription.about_tenants:
            return {}
        names = {name for one in messages if (name := subscription.tenant_named(one.subject)) is not None}
        async with self._db.platform() as tx:
            return await find_named(tx, names)

    async def _accept(
        self, subscription: EventSubscription, items: Sequence[_Item]
    ) -> dict[int, MessageOutcome]:
        role = _PLATFORM_ROLE if subscription.about_tenants else _ROLE

        async def accept(some: Sequence[_Item]) -> list[MessageOutcome]:
            found = await self._intake.accept_set(role, [(sender, event) for _, sender, event in some])
            return [reason_of(one.error) if isinstance(one, RefusedEvent) else one for one in found]

        outcomes: dict[int, MessageOutcome] = {}
        async for done in halve(items, accept, blames_item=_narrows, cut=_cut):
            if isinstance(done, SetDone):
                outcomes |= {place: one for (place, _, _), one in zip(done.items, done.result, strict=True)}
            elif _blames_message(done.error):
                _log.error(
                    "message_not_storable", subscription_id=subscription.id, error=type(done.error).__name__
                )
                outcomes[done.items[0][0]] = _UNREADABLE
            else:
                raise done.error
        return outcomes


def _sender(subscription: EventSubscription, message: KeptMessage, named: _Named) -> EventSender:
    """Whose event a message is; what is in the way of that tenant is raised."""
    if subscription.about_tenants:
        return EventSender(
            tenant_id=None, role=_PLATFORM_ROLE, is_test=False, scopes=frozenset({"tenants:write"})
        )
    name = subscription.tenant_named(message.subject)
    found = named.get(name) if name is not None else None
    if found is None:
        where = (
            f"word {subscription.tenant_word} of its subject"
            if subscription.tenant_word
            else "the subscription"
        )
        raise UnknownTenantError(f"{where} names no tenant that is known here: it has to be an id or a slug")
    tenant_id, state = found
    if (refusal := refusal_of(state, writes=True)) is not None:
        raise refusal
    scopes = frozenset({"recipients:write"}) if subscription.may_erase else frozenset[str]()
    return EventSender(tenant_id=tenant_id, role=_ROLE, is_test=subscription.is_test, scopes=scopes)


def _check(subscription: EventSubscription, event: CloudEvent) -> None:
    """Refuse what this subscription may not bring, in words that fit a subscription."""
    if is_about_tenants(event) != subscription.about_tenants:
        remedy = (
            "must be an event about tenants: this subscription names no tenant for others"
            if subscription.about_tenants
            else "is an event about tenants: those come by a subscription that names no tenant"
        )
        raise InvalidError([FieldError("type", remedy)])
    if event.type == USER_DELETED_SUBJECT and not subscription.may_erase:
        raise InvalidError(
            [FieldError("type", "erases a person, and this subscription may not: change it with may_erase")]
        )


def reason_of(error: RefusalError | BadValueError) -> MessageRefusal:
    """Why, without a word of the message: its own names of attributes are left out."""
    if isinstance(error, InvalidError):
        first = error.errors[0]
        return MessageRefusal(code=error.code, field=_known(first.field), remedy=first.remedy[:500])
    if isinstance(error, BadValueError):
        return MessageRefusal(code=error.code, field=_known(error.field), remedy=error.remedy[:500])
    return MessageRefusal(code=error.code, field="", remedy=str(error)[:500])


def _known(field: str) -> str:
    """The attribute, if it is one that CloudEvents names; what is inside of `data` is the sender's own."""
    word = _FIRST_WORD.match(field)
    return word[1] if word is not None and word[1] in ATTRIBUTES else ""


def _blames_message(error: Exception) -> bool:
    """Whether a message is to blame: a mistake of ours that one message brings to light must not hold up the others."""
    if isinstance(error, ConstraintError | MissingReferenceError):
        return True
    return not isinstance(error, TidingsError | OSError | TimeoutError)


def _narrows(error: Exception) -> bool:
    return _blames_message(error) or isinstance(error, DatabaseBusyError)


def _cut(items: Sequence[_Item], error: Exception) -> Sequence[Sequence[_Item]]:
    """Where a row is locked, tenant by tenant; otherwise in two."""
    if not isinstance(error, DatabaseBusyError):
        return in_two(items, error)
    by_tenant: dict[TenantId | None, list[_Item]] = {}
    for item in items:
        by_tenant.setdefault(item[1].tenant_id, []).append(item)
    return list(by_tenant.values()) if len(by_tenant) > 1 else in_two(items, error)
