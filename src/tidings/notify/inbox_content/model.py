"""The content of an item: as a template writes it, and as it is stored and shown."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from tidings.contracts.moments import Moment

MOST_TITLE: Final = 200
MOST_BODY: Final = 4000
MOST_ACTIONS: Final = 4
MOST_TAGS: Final = 10
MOST_DATA_BYTES: Final = 4096

ActionName = Annotated[
    str, Meta(pattern=r"^[a-z][a-z0-9_]{0,39}\Z", description="must be a name such as accept or pay_now")
]
Tag = Annotated[
    str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}\Z", description="must be a word such as invoices")
]


class InboxAction(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A button of an item: it leads somewhere, or it is reported to the tenant as chosen."""

    name: ActionName
    label: Annotated[str, Meta(min_length=1, max_length=60)]
    #: Where it leads; without one, choosing it only tells the tenant.
    url: str | None = None


class WrittenContent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a template renders for the in-app inbox (`json`)."""

    title: Annotated[str, Meta(min_length=1, max_length=MOST_TITLE)]
    body: Annotated[str, Meta(max_length=MOST_BODY)] = ""
    #: How the body is to be read.
    body_format: Literal["text", "markdown"] = "text"
    #: Where a click on the item leads.
    link: str | None = None
    #: An `https` address.
    picture: str | None = None
    actions: Annotated[tuple[InboxAction, ...], Meta(max_length=MOST_ACTIONS)] = ()
    #: For filters; kept in the clear.
    tags: Annotated[tuple[Tag, ...], Meta(max_length=MOST_TAGS)] = ()
    #: For the application itself.
    data: dict[str, Any] = {}
    #: When it is of no use any more.
    expires_at: datetime | None = None


class InboxContent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The content of an item, checked."""

    title: str
    body: str = ""
    #: The body as HTML that can be shown as it is, where it is Markdown.
    body_html: str | None = None
    link: str | None = None
    picture: str | None = None
    actions: tuple[InboxAction, ...] = ()
    tags: tuple[str, ...] = ()
    data: dict[str, Any] = {}
    expires_at: Moment | None = None
    #: Of the texts, as a tag of BCP 47.
    locale: str | None = None
    direction: Literal["ltr", "rtl"] = "ltr"


class ContentFault(Struct, frozen=True, kw_only=True):
    """Why a text can't be an item; it names the field, and quotes nothing."""

    field: str
    #: The rest of a sentence: `must be …`.
    remedy: str
