"""Callbacks as they are shown and ordered about over HTTP."""

from typing import Annotated, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.callback_forms import Canonical
from tidings.contracts.moments import Moment
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import PageQuery, Paging
from tidings.kernel.ids import IdKind
from tidings.kernel.mapping import by_name
from tidings.router.callbacks.store import KeptRequest, OpenEvent
from tidings.router.dead_letter_page import DeadLetterPage
from tidings.router.ids import INBOUND_WEBHOOK_EVENT, InboundWebhookEventId

_Id = TypeVar("_Id", bound=str)
_Vendor = Annotated[
    str,
    Meta(pattern=r"^[a-z][a-z0-9_]{1,62}\Z", description="must be the name of a vendor, such as http_acme"),
]
_VendorOnly = Annotated[_Vendor | None, Meta(description="Only this vendor's.")]
_AdapterOnly = Annotated[str | None, Meta(description="Only those for the account with this id.")]
_SinceOnly = Annotated[Moment | None, Meta(description="Only those received then or later.")]


class HookAnswer(Struct, frozen=True, kw_only=True):
    """What was taken in."""

    #: Events that are new.
    accepted: int
    #: Events that were told before; they change nothing.
    repeated: int


class CallbackQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events are wanted."""

    status: Annotated[
        Literal["dlq", "late_correlate", "queued"],
        Meta(description="`dlq`: given up; `late_correlate`: looked for again; `queued`: not looked at yet."),
    ] = "dlq"
    vendor: _VendorOnly = None
    adapter: _AdapterOnly = None
    since: _SinceOnly = None

    def page(self, paging: Paging) -> DeadLetterPage:
        """The page of them that a store lists."""
        return by_name(
            DeadLetterPage, self, account_id=self.adapter, after_id=paging.after_id, limit=paging.fetch
        )


class RequestQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which refused requests are wanted."""

    vendor: _VendorOnly = None
    adapter: _AdapterOnly = None
    since: _SinceOnly = None

    def page(self, paging: Paging) -> DeadLetterPage:
        """The page of them that a store lists."""
        return by_name(
            DeadLetterPage, self, account_id=self.adapter, after_id=paging.after_id, limit=paging.fetch
        )


class CallbackView(Struct, frozen=True, kw_only=True):
    """An event that has not found its attempt."""

    id: str
    vendor: str
    adapter: str
    #: The request that brought it.
    request_id: str
    #: How the vendor calls the message.
    vendor_message_id: str
    #: What it means.
    means: Canonical
    #: `dlq`: given up; `late_correlate`: looked for again; `queued`: not looked at yet.
    status: Literal["queued", "late_correlate", "dlq"]
    occurred_at: Moment | None
    received_at: Moment
    #: How often its attempt was looked for.
    looks: int
    next_look_at: Moment | None

    @classmethod
    def of(cls, event: OpenEvent) -> "CallbackView":
        """The event as it is shown."""
        return by_name(cls, event, adapter=event.account_id)


class RefusedRequestView(Struct, frozen=True, kw_only=True):
    """A request that was refused, or that nobody could read."""

    id: str
    vendor: str
    adapter: str
    #: Whether the vendor had signed it.
    signed: bool
    #: `unsigned`, `malformed`, `stale`, `mismatch`, `unreadable`.
    reason: str | None
    received_at: Moment

    @classmethod
    def of(cls, request: KeptRequest) -> "RefusedRequestView":
        """The request as it is shown."""
        return by_name(cls, request, adapter=request.account_id, signed=request.signature_valid)


class Requeue(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which dead letters are to be looked at again: by their ids, or all of a vendor."""

    ids: Annotated[list[str], Meta(min_length=1, max_length=1000)] | UnsetType = UNSET
    vendor: _Vendor | UnsetType = UNSET
    #: With `vendor`: only those received since.
    since: Moment | UnsetType = UNSET

    def event_ids(self) -> list[InboundWebhookEventId] | None:
        """The ids, if it is by ids."""
        return self.named(INBOUND_WEBHOOK_EVENT)

    def named(self, kind: IdKind[_Id]) -> list[_Id] | None:
        """The same for dead letters of another kind."""
        if isinstance(self.ids, UnsetType):
            if isinstance(self.vendor, UnsetType):
                raise BadValueError("ids", "is required, or a vendor instead")
            return None
        if not isinstance(self.vendor, UnsetType):
            raise BadValueError("vendor", "can't stand beside ids; give one of the two")
        if not isinstance(self.since, UnsetType):
            raise BadValueError("since", "goes with a vendor; leave it out with ids")
        return [kind.parse(one, field=f"ids[{i}]") for i, one in enumerate(self.ids)]


class Requeued(Struct, frozen=True, kw_only=True):
    """What came of it."""

    requeued: int
    #: Dead ones of them that came more than 35 days ago; they stay dead. Counted up to a thousand.
    too_old: int
    #: There may be more of that vendor: order it again.
    more: bool
