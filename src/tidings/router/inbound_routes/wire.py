"""Inbound routes as JSON: what requests bring and answers show."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.moments import Moment
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import by_name
from tidings.kernel.signed_webhooks.call import WebhookResult
from tidings.router.conversations.destinations import canonical
from tidings.router.inbound_routes.model import (
    DEFAULT_ROUTE,
    INBOUND_ROUTE,
    DeliveryStatus,
    InboundDelivery,
    InboundRoute,
    InboundRouteId,
)

_Url = Annotated[str, Meta(min_length=8, max_length=2048, description="must be an https address")]
_SecretRef = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=512,
        description="must lead to the secret that calls are signed with, such as file://inbound",
    ),
]


class CreateInboundRoute(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where messages to a number are to be told."""

    #: Short code, number in international form, or the vendor's id of the account; `*` for all others.
    inbound: Annotated[str, Meta(min_length=1, max_length=200)]
    webhook_url: _Url
    secret_ref: _SecretRef
    #: Takes messages of the platform's accounts too; only operators can say so.
    platform: bool = False

    def number(self) -> str:
        """In its one spelling."""
        text = self.inbound.strip()
        if text == DEFAULT_ROUTE:
            return text
        if not text or not text.isprintable() or DEFAULT_ROUTE in text:
            raise BadValueError(
                "inbound", "must be a short code, a number such as +93701234567, a handle, or *"
            )
        return canonical("", text)

    def __repr__(self) -> str:
        return "CreateInboundRoute(***)"


class PutInboundRoute(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where it is told from now on; the number may be repeated, and can't be changed."""

    webhook_url: _Url
    secret_ref: _SecretRef
    inbound: str | None = None
    platform: bool | UnsetType = UNSET

    def __repr__(self) -> str:
        return "PutInboundRoute(***)"


class RemoveInboundRoute(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a route is removed."""

    grace_seconds: Annotated[
        Annotated[int, Meta(ge=0, le=2_592_000)] | None,
        Meta(description="For how long it goes on working and can be restored; a day where it is left out."),
    ] = None


class ListInboundRoutes(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which routes are wanted."""

    inbound: Annotated[str | None, Meta(description="Only the one for this number.")] = None
    removed: Annotated[
        Literal["true", "false"], Meta(description="`true` shows those whose grace is over too.")
    ] = "false"


class ListInboundDeliveries(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which deliveries are wanted."""

    status: Annotated[
        DeliveryStatus | None, Meta(description="`dead`: given up, and can be delivered again.")
    ] = None
    route: Annotated[str | None, Meta(description="Only those of this route, `route_…`.")] = None

    def route_id(self) -> str | None:
        """Whose deliveries."""
        return None if self.route is None else INBOUND_ROUTE.parse(self.route, field="route")


class RedeliverDead(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which of those that were given up are to be told again; all of them where nothing is said."""

    #: Only those of this route, `route_…`.
    route: str | UnsetType = UNSET
    #: Only those that were to be told first then or later.
    since: Moment | UnsetType = UNSET

    def route_id(self) -> InboundRouteId | None:
        """Whose deliveries."""
        return None if isinstance(self.route, UnsetType) else INBOUND_ROUTE.parse(self.route, field="route")


class Redelivered(Struct, frozen=True, kw_only=True):
    """What came of it."""

    redelivered: int
    #: There may be more: order it again.
    more: bool


class InboundRouteView(Struct, frozen=True, kw_only=True):
    """An inbound route."""

    id: str
    inbound: str
    webhook_url: str
    secret_ref: str
    #: Takes messages of the platform's accounts too.
    platform: bool
    #: Whether the number is this tenant's.
    active: bool
    #: It was removed: until then it goes on working, and can be restored.
    grace_period_ends_at: Moment | None
    created_at: Moment
    updated_at: Moment
    version: int

    @classmethod
    def of(cls, route: InboundRoute) -> "InboundRouteView":
        """The route as it is shown."""
        return by_name(cls, route)


class InboundDeliveryView(Struct, frozen=True, kw_only=True):
    """A message on its way to the webhook."""

    id: str
    message_id: str
    conversation_id: str
    route_id: str
    status: DeliveryStatus
    attempts: int
    created_at: Moment
    next_attempt_at: Moment | None
    delivered_at: Moment | None
    #: What the webhook answered last; null where it did not.
    last_status: int | None
    #: `answered`, `connection`, `timeout`, `unanswered`, `tls`, `address`, `gone`, `secret_not_found`, `secret_store`,
    #: `route_gone`, `erased`.
    last_reason: str | None

    @classmethod
    def of(cls, delivery: InboundDelivery) -> "InboundDeliveryView":
        """The delivery as it is shown."""
        return by_name(cls, delivery)


class TrialView(Struct, frozen=True, kw_only=True):
    """What became of a call that nobody wrote."""

    delivered: bool
    #: What the webhook answered; null where it did not.
    status: int | None
    #: Why it was not delivered, in the words of deliveries.
    reason: str | None

    @classmethod
    def of(cls, called: WebhookResult) -> "TrialView":
        """The call as it is shown."""
        return by_name(cls, called)
