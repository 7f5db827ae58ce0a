"""Channels as JSON: what requests bring and answers show."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.contracts.channel_configs import CredentialCheck, TestSend
from tidings.contracts.enums import Vendor
from tidings.contracts.messages import Accepted, Refused, TryLater
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import by_name
from tidings.notify.channels.configure import AccountSpec, ChannelSpec, ConfiguredChannel
from tidings.notify.channels.dns_check.model import DnsFinding, Status
from tidings.notify.channels.model import (
    Branding,
    ChannelStatus,
    CredentialStatus,
    RateLimit,
    Sender,
    VendorHealth,
)

_PerSecond = Annotated[int, Meta(ge=1, le=1_000_000)]
_PerDay = Annotated[int, Meta(ge=1, le=2_000_000_000)]


class AccountInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Your own account with a vendor."""

    #: A reference such as `sealed://smtp` or `file://smtp/password`, never the secret itself.
    secret_ref: Annotated[str, Meta(min_length=1, max_length=512)]
    #: The account's number or handle with the vendor, where it has one.
    handle: (
        Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\s\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z")]
        | None
    ) = None
    #: How much the vendor takes.
    per_second: _PerSecond | None = None
    per_day: _PerDay | None = None


class RotateCredential(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new credential for your own account with a vendor."""

    #: A reference such as `vault://smtp/2026-11`. The one in use again: its content is another now.
    secret_ref: Annotated[str, Meta(min_length=1, max_length=512)]
    #: One of the channel's two; the first where it is left out.
    vendor: Vendor | None = None
    #: Ask the vendor first whether it takes it.
    check: bool = True


class TestChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a test goes."""

    __test__ = False  # no class of tests, whatever its name begins with

    #: A mail address, a telephone number, whatever the channel has.
    to: Annotated[str, Meta(min_length=1, max_length=2048)]
    #: One of the channel's two; the first where it is left out.
    vendor: Vendor | None = None


class PutChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A channel, whole; what is left out goes back to its default. Accounts that are not named stay."""

    vendor: Vendor
    fallback_vendor: Vendor | None = None
    sender: Sender = Sender()
    branding: Branding | None = None
    rate_limit: RateLimit = RateLimit()
    status: Literal["active", "disabled"] = "active"
    #: By vendor. Without one the platform's account is used, where there is one.
    accounts: Annotated[dict[Vendor, AccountInput], Meta(max_length=2)] = {}

    def spec(self, channel: Channel) -> ChannelSpec:
        """The same, for the use case."""
        accounts = {vendor: by_name(AccountSpec, account) for vendor, account in self.accounts.items()}
        return by_name(ChannelSpec, self, channel=channel, accounts=accounts)


class AccountView(Struct, frozen=True, kw_only=True):
    """An account with a vendor."""

    vendor: str
    #: `platform`: one that all tenants may use.
    owner: Literal["tenant", "platform"]
    handle: str | None
    per_second: int | None
    per_day: int | None
    #: `false`: it is switched off, and nothing new goes through it.
    active: bool


class CredentialView(Struct, frozen=True, kw_only=True):
    """Which secret was used with a vendor, and until when."""

    id: str
    vendor: str
    secret_ref: str
    status: CredentialStatus
    created_at: Moment
    #: When another one took its place.
    rotated_at: Moment | None
    #: Since when nothing is sent with it: it may be deleted at the vendor.
    revoked_at: Moment | None


class ChannelView(Struct, frozen=True, kw_only=True):
    """A channel."""

    id: str
    channel: Channel
    vendor: str
    fallback_vendor: str | None
    sender: Sender
    branding: Branding | None
    rate_limit: RateLimit
    #: `active` or `disabled` as you want it. `degraded`: one of its vendors takes no messages for a while, and the other one
    #: carries them; `down`: none does, and messages wait.
    status: ChannelStatus
    #: Those of its vendors that take no messages now, and why; empty where all is well.
    health: dict[str, VendorHealth]
    accounts: list[AccountView]
    credentials: list[CredentialView]
    version: int
    created_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, shown: ConfiguredChannel) -> "ChannelView":
        """The channel as it is shown."""
        config = shown.config
        return by_name(
            cls,
            config,
            health=dict(config.health),
            accounts=[
                by_name(AccountView, a, owner="platform" if a.platform else "tenant")
                for a in shown.accounts.values()
            ],
            credentials=[by_name(CredentialView, c, created_at=time_of(c.id)) for c in shown.credentials],
        )


class ChannelList(Struct, frozen=True, kw_only=True):
    """All channels that are set up."""

    items: list[ChannelView]


class CheckView(Struct, frozen=True, kw_only=True):
    """What the vendor said to a credential before it was used."""

    #: `not_asked`: it is well formed, and this vendor has no question that sends nothing.
    result: Literal["accepted", "not_asked", "skipped"]

    @classmethod
    def of(cls, checked: CredentialCheck | None) -> "CheckView":
        """The same, as it is shown."""
        if checked is None:
            return cls(result="skipped")
        return cls(result="accepted" if checked.result == "accepted" else "not_asked")


class RotationView(Struct, frozen=True, kw_only=True):
    """A credential that was put in the place of another."""

    vendor: str
    check: CheckView
    #: The channel with its credentials, as it is now.
    channel: ChannelView


class TestView(Struct, frozen=True, kw_only=True):
    """What the vendor said to a test."""

    __test__ = False

    #: Who was really called; `simulated` for keys of the test environment and reserved addresses.
    vendor: str
    result: Literal["accepted", "refused", "try_later", "unlearned"]
    code: str | None
    #: In words that hold no address.
    reason: str | None
    #: The vendor's own name for the message, if it gave one.
    provider_message_id: str | None

    @classmethod
    def of(cls, tried: TestSend) -> "TestView":
        """The same, as it is shown."""
        outcome = tried.outcome
        result: Literal["accepted", "refused", "try_later", "unlearned"] = "unlearned"
        if isinstance(outcome, Accepted):
            result = "accepted"
        elif isinstance(outcome, Refused):
            result = "refused"
        elif isinstance(outcome, TryLater):
            result = "try_later"
        return cls(
            vendor=tried.vendor,
            result=result,
            code=getattr(outcome, "code", None),
            reason=getattr(outcome, "reason", None),
            provider_message_id=getattr(outcome, "provider_message_id", None),
        )


class DnsView(Struct, frozen=True, kw_only=True):
    """What the domain name system says about the sender's domain."""

    domain: str
    dkim_selector: str | None
    #: The worst of the checks.
    status: Status
    checks: list[DnsFinding]
    checked_at: Moment
