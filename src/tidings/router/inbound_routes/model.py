"""An inbound route, and a message on its way to the tenant's webhook; no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, NewType, TypeAlias

from tidings.kernel.ids import IdKind
from tidings.router.conversations.destinations import spellings

InboundRouteId = NewType("InboundRouteId", str)
InboundDeliveryId = NewType("InboundDeliveryId", str)

INBOUND_ROUTE: Final = IdKind("route", InboundRouteId)
INBOUND_DELIVERY: Final = IdKind("ibd", InboundDeliveryId)

#: Takes what no other route of the tenant takes.
DEFAULT_ROUTE: Final = "*"

DeliveryStatus: TypeAlias = Literal["pending", "delivered", "dead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundRoute:
    """Where messages to one number are told."""

    id: InboundRouteId
    #: Short code, number or handle; `*` for all others.
    inbound: str
    webhook_url: str = field(repr=False)
    secret_ref: str = field(repr=False)
    #: Takes messages of the platform's accounts too.
    platform: bool
    active: bool
    #: It was removed; until then it goes on working.
    grace_period_ends_at: datetime | None
    created_at: datetime
    updated_at: datetime
    version: int

    def serves(self, now: datetime) -> bool:
        """Whether messages go there."""
        return self.active and (self.grace_period_ends_at is None or now < self.grace_period_ends_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundDelivery:
    """A message on its way to the webhook."""

    id: InboundDeliveryId
    message_id: str
    conversation_id: str
    route_id: InboundRouteId
    status: DeliveryStatus
    attempts: int
    created_at: datetime
    next_attempt_at: datetime | None
    delivered_at: datetime | None
    #: What the webhook answered last.
    last_status: int | None
    last_reason: str | None


def serving_route(routes: Mapping[str, InboundRouteId], destination: str | None) -> InboundRouteId | None:
    """The route of a destination, of those that serve, by their numbers; else the one that takes all others."""
    numbers = spellings(destination) if destination is not None else ()
    return next((routes[number] for number in (*numbers, DEFAULT_ROUTE) if number in routes), None)
