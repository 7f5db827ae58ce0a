"""How a tenant appears on a channel; no I/O."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from tidings.contracts.channel_configs import adapter_of
from tidings.contracts.inbox import IN_APP
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel, Count, SenderId
from tidings.contracts.text import Label
from tidings.kernel.ids import time_of
from tidings.kernel.refusals import FieldError
from tidings.notify.ids import ChannelCredentialId, ChannelId

ChannelStatus = Literal["active", "degraded", "down", "disabled"]
CredentialStatus = Literal["active", "superseded", "revoked"]

Colour = Annotated[str, Meta(pattern=r"^#[0-9a-fA-F]{6}\Z", description="must be a colour such as #1a2b3c")]
#: As a header of a mail can carry it; that it is an address is looked at by `normalise`.
MailAddress = Annotated[
    str,
    Meta(
        max_length=254,
        pattern=r"^[^\s\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z",
        description="must be an e-mail address such as name@example.org",
    ),
]
DkimSelector = Annotated[
    str,
    Meta(
        max_length=63,
        pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?\Z",
        description="must be a DKIM selector such as s1",
    ),
]


class Sender(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Whom a message comes from: the tenant, never a person."""

    #: The mail address that messages come from.
    from_address: MailAddress | None = None
    from_name: Label | None = None
    reply_to: MailAddress | None = None
    dkim_selector: DkimSelector | None = None
    #: The number or name that telephones show.
    sender_id: SenderId | None = None


class Branding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What differs from the tenant's theme on this channel."""

    product_name: Label | None = None
    primary_colour: Colour | None = None
    logo_url: Annotated[str, Meta(max_length=2048, pattern=r"^https://[^\s\x00-\x1f\x7f-\x9f]+\Z")] | None = (
        None
    )
    support_url: (
        Annotated[str, Meta(max_length=2048, pattern=r"^https://[^\s\x00-\x1f\x7f-\x9f]+\Z")] | None
    ) = None


class RateLimit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How much the tenant sends over this channel at most."""

    per_second: Count | None = None
    per_minute: Count | None = None
    per_day: Count | None = None


class VendorHealth(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A vendor that takes no messages for a while, as the router tells it."""

    #: The account whose circuit is open: `adcfg_…`.
    account_id: str
    #: `31 of 40 calls failed`, or `by hand`; of the platform's accounts only that they take none.
    reason: str
    since: Moment
    #: From when on it may be tried again; null where only a person will say.
    until: Moment | None = None
    #: A person has said so.
    held: bool = False


def status_with(
    wanted: Literal["active", "disabled"], vendors: Sequence[str], health: Mapping[str, VendorHealth]
) -> ChannelStatus:
    """What the operator wants, and what becomes of it: `down` where no vendor of it takes messages."""
    if wanted == "disabled":
        return "disabled"
    troubled = [vendor in health for vendor in vendors]
    return "down" if all(troubled) else "degraded" if any(troubled) else "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelConfig:
    """A tenant's intent for one channel."""

    id: ChannelId
    channel: Channel
    vendor: str
    fallback_vendor: str | None
    sender: Sender
    branding: Branding | None
    rate_limit: RateLimit
    #: `active` or `disabled` as the operator wants it; `degraded` or `down` by what the router tells of its vendors.
    status: ChannelStatus
    #: Also its ETag.
    version: int
    updated_at: datetime
    #: Those of its vendors that take no messages now.
    health: Mapping[str, VendorHealth] = field(default_factory=dict)

    @property
    def created_at(self) -> datetime:
        """The time inside its id."""
        return time_of(self.id)

    @property
    def vendors(self) -> tuple[str, ...]:
        """The vendor, then the one to fall back to."""
        return (self.vendor, self.fallback_vendor) if self.fallback_vendor else (self.vendor,)


#: The in-app inbox of a tenant that has not set it up: it works, without limits or looks of its own.
INBOX_BY_ITSELF: Final = ChannelConfig(
    id=ChannelId("ch_00000000000000000000000000"),
    channel=IN_APP,
    vendor=IN_APP,
    fallback_vendor=None,
    sender=Sender(),
    branding=None,
    rate_limit=RateLimit(),
    status="active",
    version=0,
    updated_at=datetime(2026, 1, 1, tzinfo=UTC),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """Which secret a channel uses with a vendor, or used before."""

    id: ChannelCredentialId
    channel_id: ChannelId
    vendor: str
    secret_ref: str
    status: CredentialStatus
    #: When another one took its place.
    rotated_at: datetime | None
    #: Since when nothing is sent with it: it may be deleted at the vendor.
    revoked_at: datetime | None = None


def vendors_wrong(
    channel: Channel, vendor: str, fallback: str | None, known: Mapping[str, frozenset[str]]
) -> list[FieldError]:
    """What is wrong with the choice of vendors; `known` are the adapters behind them."""
    serving = sorted(name for name, channels in known.items() if channel in channels)
    wrong = [
        FieldError(
            field, f"must be an adapter that serves {channel}: {_some_of(serving)}; {_instead(name, known)}"
        )
        for field, name in (("vendor", vendor), ("fallback_vendor", fallback))
        if name is not None and adapter_of(name, known) not in serving
    ]
    if fallback == vendor:
        wrong.append(FieldError("fallback_vendor", "must be another one than vendor"))
    return wrong


def _some_of(serving: Sequence[str]) -> str:
    if not serving:
        return "there is none"
    return f"{', '.join(serving)}, or one of these with a name of your own, such as {serving[0]}_backup"


def _instead(vendor: str, known: Mapping[str, frozenset[str]]) -> str:
    """What the one is that was named."""
    adapter = adapter_of(vendor, known)
    if adapter is not None:
        return f"{adapter} serves {', '.join(sorted(known[adapter]))}"
    near = difflib.get_close_matches(vendor, known, n=1)
    return "there is no adapter of this name" + (f", did you mean {near[0]}?" if near else "")
