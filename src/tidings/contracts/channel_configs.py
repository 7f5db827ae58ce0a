"""How notify tells the router which vendor accounts a tenant sends through; the router keeps the means."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from tidings.contracts.messages import OutboundMessage, Outcome
from tidings.contracts.prices import PriceModel
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError


def adapter_of(vendor: str, adapters: Collection[str]) -> str | None:
    """The adapter behind a vendor's name; None where there is none.

    `http` and `http_acme` are two vendors with one adapter, each with an account of its own: so one channel can have
    several vendors that speak the same language. Of two adapters the one with the longer name is meant.
    """
    if vendor in adapters:
        return vendor
    return max((name for name in adapters if vendor.startswith(f"{name}_")), key=len, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigureAccount:
    """A tenant's own account with a vendor; what is None stays as it is."""

    vendor: str
    #: A reference, checked by the sender of this command; never the secret.
    secret_ref: str
    #: The account's number or handle with the vendor, where it has one. Of the platform's account: its own sender.
    handle: str | None = None
    per_second: int | None = None
    per_day: int | None = None
    #: What its messages cost.
    prices: PriceModel | None = None
    #: Every process opens it anew, also where nothing differs: its secret has other content under the same name.
    renew: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account with a vendor that a tenant can send through."""

    id: str
    vendor: str
    #: The platform's account, which all tenants may use; a tenant's own wins over it.
    platform: bool
    handle: str | None
    per_second: int | None
    per_day: int | None
    prices: PriceModel | None = None
    #: Whether new messages may go through it.
    active: bool = True


class ChannelConfigs(Protocol):
    """The router's side of a channel; commands join the caller's transaction."""

    def vendors(self) -> Mapping[str, frozenset[str]]:
        """Every adapter by its name, with the channels that it serves; `adapter_of` finds a vendor's."""
        ...

    async def configure(
        self, tx: TenantTx, commands: Sequence[ConfigureAccount], *, actor: str
    ) -> dict[str, Account]:
        """Make or change the tenant's own accounts, at most one for each vendor; by vendor."""
        ...

    async def accounts(self, tx: TenantTx, vendors: Sequence[str]) -> dict[str, Account]:
        """The accounts to send through: the tenant's own, or else the platform's; by vendor."""
        ...


class SharedAccounts(Protocol):
    """The platform's accounts among those that a tenant sends through, at the moment of sending."""

    async def shared_by(
        self, tx: TenantTx | TenantsTx, tenant_ids: Collection[TenantId]
    ) -> Mapping[TenantId, Mapping[str, str | None]]:
        """By tenant, the handle of each by vendor; remembered as the accounts are."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialCheck:
    """What a vendor says to credentials that were not used yet."""

    #: `not_asked`: they are well formed, and this vendor has no question that sends nothing.
    result: Literal["accepted", "refused", "not_reached", "not_asked", "unusable"]
    code: str | None = None
    #: In words that hold no secret.
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSend:
    """What became of one message that was sent to see what happens."""

    #: Who was really called.
    vendor: str
    outcome: Outcome


class VendorProbe(Protocol):
    """Asks vendors something outside the ordinary way of messages."""

    async def wrong_with(
        self, tenant_id: TenantId | None, vendor: str, secret_ref: str
    ) -> Sequence[FieldError]:
        """What the vendor's adapter can't read of what the reference leads to, as an account of the tenant's own; None: the platform's.

        Each names a setting as the adapter does, or `secret_ref` where the reference itself is wrong; none quotes a value.
        The vendor is not asked. A `SecretStoreError` where the secret store can't be asked right now.
        """
        ...

    async def check(self, tenant_id: TenantId, vendor: str, secret_ref: str) -> CredentialCheck:
        """Whether the vendor takes what the reference leads to, as an account of the tenant's own."""
        ...

    async def try_out(
        self, tenant_id: TenantId, vendor: str, message: OutboundMessage, *, is_test: bool
    ) -> TestSend:
        """Send one message through the account that the tenant sends through."""
        ...
