"""Orders as JSON: what requests bring, and what answers show."""

import base64
import binascii
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.enums import Category, NotificationStatus, UseCase
from tidings.contracts.ids import RECIPIENT
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel, Locale
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.problems import Problem
from tidings.kernel.idempotency import IdempotencyKey
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.accept.order import AcceptedOrder, AttachedFile, DuplicateOrder, Order, OrderedBy
from tidings.notify.recipients.recipient_input import MESSAGE_REMEDIES, RecipientInput, RecipientSpec, spec_of

MOST_IN_BULK = 5000

TemplateKey = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=128,
        pattern=r"^[a-z][a-z0-9_.-]*\Z",
        description="must be a template's key: lower-case letters, digits and _ . -",
    ),
]
#: An id of the caller's own world.
ForeignId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=r"^[^\s\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z",
        description="must be 1 to 200 characters without spaces",
    ),
]
MediaType = Annotated[
    str,
    Meta(
        max_length=127,
        pattern=r"^[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*\Z",
        description="must be a media type such as application/pdf, without parameters",
    ),
]
FileName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029/\\]+\Z",
        description="must be a file name without slashes",
    ),
]
Cid = Annotated[
    str, Meta(max_length=120, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]*\Z", description="must be a plain name")
]
AskedPriority = Literal["critical", "high", "normal", "low", "urgent"]


class AttachmentInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file that goes along."""

    filename: FileName
    media_type: MediaType
    #: Base64.
    content: str
    #: The HTML refers to it as `cid:…`; left out for a file that is attached.
    inline_cid: Cid | None = None

    def __repr__(self) -> str:
        return f"AttachmentInput(media_type={self.media_type!r}, ***)"


class NotificationInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to say to whom."""

    remedies: ClassVar[dict[str, str]] = MESSAGE_REMEDIES

    #: An id, or somebody to make or bring up to date.
    recipient: str | RecipientInput
    template: TemplateKey
    #: `auto` lets the tenant's ladder choose.
    channel: Channel | Literal["auto"] = "auto"
    #: Checked against the template's schema.
    variables: dict[str, Any] = {}
    #: The category's own where it is left out.
    use_case: UseCase | None = None
    #: The template's own where it is left out.
    category: Category | None = None
    #: `urgent` means `critical`; the template's own where it is left out.
    priority: AskedPriority | None = None
    #: The recipient's own where it is left out.
    locale: Locale | None = None
    scheduled_for: Moment | None = None
    #: Not sent after this; by the category where it is left out.
    expires_at: Moment | None = None
    #: Returned as given, and found by.
    correlation_id: ForeignId | None = None
    #: At most one notification for each event, template, recipient and channel.
    source_event_id: ForeignId | None = None
    #: What kind of event that was, such as `reservation.created.v1`; returned as given.
    source_event_type: ForeignId | None = None
    #: When that event was produced; returned as given.
    source_event_produced_at: Moment | None = None
    #: Where the recipient gets the category in digests: those with the same key come in one, such as those of one thread. In
    #: the clear: not for personal data.
    digest_key: ForeignId | None = None
    attachments: Annotated[list[AttachmentInput], Meta(max_length=20)] = []
    #: Returned as given. In the clear: not for personal data.
    metadata: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"NotificationInput(template={self.template!r}, ***)"


class RefusedBulk(Problem, frozen=True, kw_only=True):
    """Of a bulk nothing was accepted: a problem, and what is wrong with each."""

    accepted: int
    refused: int
    results: list["BulkResult"]


class BulkInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Many of them; each has its own result."""

    notifications: Annotated[list[NotificationInput], Meta(min_length=1, max_length=MOST_IN_BULK)]


class Links(Struct, frozen=True, kw_only=True):
    """Where to go on."""

    self: str
    explain: str


class AcceptedView(Struct, frozen=True, kw_only=True):
    """A notification that was accepted: it is durable."""

    id: str
    status: NotificationStatus
    recipient_id: str
    created_at: Moment
    links: Links
    #: There was one already for this event, template, recipient and channel: this is it.
    duplicate: bool | UnsetType = UNSET


class BulkResult(Struct, frozen=True, kw_only=True):
    """What became of one item: as for a single one, or the problem with it."""

    index: int
    id: str | UnsetType = UNSET
    status: NotificationStatus | UnsetType = UNSET
    recipient_id: str | UnsetType = UNSET
    created_at: Moment | UnsetType = UNSET
    links: Links | UnsetType = UNSET
    duplicate: bool | UnsetType = UNSET
    problem: Problem | UnsetType = UNSET


class BulkView(Struct, frozen=True, kw_only=True):
    """What became of all, in their order."""

    accepted: int
    refused: int
    results: list[BulkResult]


def links_of(notification_id: str) -> Links:
    """Where to go on from a notification."""
    where = f"/api/v1/notifications/{notification_id}"
    return Links(self=where, explain=f"{where}/explain")


def accepted_view(done: AcceptedOrder) -> AcceptedView:
    """What is answered for an order that was accepted."""
    duplicate = True if isinstance(done, DuplicateOrder) else UNSET
    return by_name(AcceptedView, done, links=links_of(done.id), duplicate=duplicate)


def order_of(given: NotificationInput, by: OrderedBy, *, once: IdempotencyKey | None = None) -> Order:
    """The order that a body asks for; what can't be read of it stands in the order's `wrong`."""
    wrong: list[FieldError] = []
    return by_name(
        Order,
        given,
        by=by,
        recipient=_recipient(given, wrong),
        priority="critical" if given.priority == "urgent" else given.priority,
        attachments=_unpacked(given.attachments, wrong) if given.attachments else (),
        time_slot=None,
        pin=None,
        resent_from=None,
        batch_id=None,
        once=once,
        wrong=tuple(wrong),
    )


def _recipient(given: NotificationInput, wrong: list[FieldError]) -> RecipientSpec | None:
    try:
        if isinstance(given.recipient, str):
            return RecipientSpec(id=RECIPIENT.parse(given.recipient, field="recipient"))
        return spec_of(given.recipient, field="recipient")
    except BadValueError as error:
        wrong.append(FieldError(error.field, error.remedy))
    except InvalidError as error:
        wrong += error.errors
    return None


def _unpacked(given: Sequence[AttachmentInput], wrong: list[FieldError]) -> tuple[AttachedFile, ...]:
    files: list[AttachedFile] = []
    for i, item in enumerate(given):
        content = b""
        try:
            content = base64.b64decode(item.content, validate=True)
        except (binascii.Error, ValueError):
            wrong.append(FieldError(f"attachments[{i}].content", "must be base64"))
        files.append(by_name(AttachedFile, item, content=content))
    return tuple(files)
