"""Channels as JSON: what requests bring and answers show."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.contracts.words import Vendor
from tidings.notify.channels.configure import AccountWish, ChannelWish, ConfiguredChannel
from tidings.notify.channels.model import Branding, ChannelStatus, CredentialStatus, RateLimit, Sender

_PerSecond = Annotated[int, Meta(ge=1, le=1_000_000)]
_PerDay = Annotated[int, Meta(ge=1, le=2_000_000_000)]


class AccountInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Your own account with a vendor."""

    #: A reference such as `file://smtp/password`, never the secret itself.
    secret_ref: Annotated[str, Meta(min_length=1, max_length=512)]
    #: The account's number or handle with the vendor, where it has one.
    handle: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\s\x00-\x1f\x7f]+$")] | None = None
    #: How much the vendor takes.
    per_second: _PerSecond | None = None
    per_day: _PerDay | None = None


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

    def wish(self, channel: Channel) -> ChannelWish:
        """The same, for the use case."""
        return ChannelWish(
            channel=channel,
            vendor=self.vendor,
            fallback_vendor=self.fallback_vendor,
            sender=self.sender,
            branding=self.branding,
            rate_limit=self.rate_limit,
            status=self.status,
            accounts={
                vendor: AccountWish(
                    secret_ref=a.secret_ref, handle=a.handle, per_second=a.per_second, per_day=a.per_day
                )
                for vendor, a in self.accounts.items()
            },
        )


class AccountView(Struct, frozen=True, kw_only=True):
    """An account with a vendor."""

    vendor: str
    #: `platform`: one that all tenants may use.
    owner: Literal["tenant", "platform"]
    handle: str | None
    per_second: int | None
    per_day: int | None


class CredentialView(Struct, frozen=True, kw_only=True):
    """Which secret was used with a vendor, and until when."""

    id: str
    vendor: str
    secret_ref: str
    status: CredentialStatus
    rotated_at: Moment | None


class ChannelView(Struct, frozen=True, kw_only=True):
    """A channel."""

    id: str
    channel: Channel
    vendor: str
    fallback_vendor: str | None
    sender: Sender
    branding: Branding | None
    rate_limit: RateLimit
    status: ChannelStatus
    accounts: list[AccountView]
    credentials: list[CredentialView]
    version: int
    created_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, shown: ConfiguredChannel) -> "ChannelView":
        """The channel as it is shown."""
        config = shown.config
        return cls(
            id=config.id,
            channel=config.channel,
            vendor=config.vendor,
            fallback_vendor=config.fallback_vendor,
            sender=config.sender,
            branding=config.branding,
            rate_limit=config.rate_limit,
            status=config.status,
            accounts=[
                AccountView(
                    vendor=a.vendor,
                    owner="platform" if a.platform else "tenant",
                    handle=a.handle,
                    per_second=a.per_second,
                    per_day=a.per_day,
                )
                for a in shown.accounts.values()
            ],
            credentials=[
                CredentialView(
                    id=c.id,
                    vendor=c.vendor,
                    secret_ref=c.secret_ref,
                    status=c.status,
                    rotated_at=c.rotated_at,
                )
                for c in shown.credentials
            ],
            version=config.version,
            created_at=config.created_at,
            updated_at=config.updated_at,
        )


class ChannelList(Struct, frozen=True, kw_only=True):
    """All channels that are set up."""

    items: list[ChannelView]
