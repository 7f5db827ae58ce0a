"""Vendor accounts as JSON: what requests bring and answers show. References to secrets are the channels' business."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.prices import PriceModel
from tidings.kernel.mapping import by_name
from tidings.kernel.secrets import MAX_REFERENCE_CHARACTERS
from tidings.router.accounts.model import StoredAccount
from tidings.router.adapters.kind import PriceUnit
from tidings.router.adapters.registry import AdapterKind, kind_of
from tidings.router.channel_configs.configure import AccountChange
from tidings.router.channel_configs.hook import HookAddress
from tidings.router.traffic.circuit import CircuitState
from tidings.router.traffic.traffic_state import AccountCircuit, ChannelWeights

_PerSecond = Annotated[int, Meta(ge=1, le=1_000_000)]
_Reference = Annotated[str, Meta(min_length=1, max_length=MAX_REFERENCE_CHARACTERS)]
_Handle = Annotated[str, Meta(min_length=1, max_length=200)]
_PerDay = Annotated[int, Meta(ge=1, le=2_000_000_000)]


class PutAdapter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an account costs and how much it takes, whole: what is left out has no price, or no limit."""

    #: In millionths of a currency; the longest prefix of a number wins.
    prices: PriceModel | None = None
    #: How many messages the vendor takes.
    per_second: _PerSecond | None = None
    per_day: _PerDay | None = None


class CreateAdapter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new account with a vendor."""

    #: The kind of vendor, such as `smtp`; with `_` and a name of your own one more of the kind, such as `smtp_backup`.
    vendor: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{1,62}\Z")]
    #: Where its settings and credentials are: `sealed://…` (entered over the API), `file://…`, `vault://…`, for the platform also `env://…`. Never the secret.
    secret_ref: _Reference
    #: The account's number or handle with the vendor, where it has one.
    handle: _Handle | None = None
    per_second: _PerSecond | None = None
    per_day: _PerDay | None = None
    prices: PriceModel | None = None

    def command(self) -> ConfigureAccount:
        """What the use case wants."""
        return by_name(ConfigureAccount, self, renew=False)


class PatchAdapter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be otherwise; what is left out stays as it is."""

    #: `false`: nothing new is sent through it. What went through it before is still told of.
    active: bool | None = None
    #: Another place of its settings; the same place again: all processes read it anew, now.
    secret_ref: _Reference | None = None
    #: Empty: it has none.
    handle: Annotated[str, Meta(max_length=200)] | None = None

    def change(self) -> AccountChange:
        """What the use case wants."""
        return AccountChange(active=self.active, secret_ref=self.secret_ref, handle=self.handle)


class AdapterWeight(Struct, frozen=True, kw_only=True):
    """The account's share of a channel."""

    channel: str
    #: Where its points belong, of 100.
    home: int
    #: Where they are now, by calling code, for countries where they are elsewhere.
    now: dict[str, int]


class AdapterView(Struct, frozen=True, kw_only=True):
    """A vendor account, also one that is switched off."""

    id: str
    vendor: str
    #: The adapter behind the vendor's name: `http` of `http_acme`.
    adapter: str
    #: `platform`: one that all tenants may use.
    owner: Literal["tenant", "platform"]
    #: Whether new messages may go through it.
    active: bool
    channels: list[str]
    #: What it can do; null where that is in the account's own settings, which are as secret as its credentials.
    capabilities: dict[str, bool | None]
    handle: str | None
    per_second: int | None
    per_day: int | None
    prices: PriceModel | None
    circuit: CircuitState
    weights: list[AdapterWeight]
    #: Where its vendor tells later what became of messages: the address for the vendor's console. Null where it does not, and
    #: while nobody has said how the outside reaches us.
    hook: str | None
    #: What is to be done before a vendor can call there; null where nothing is.
    hook_advice: str | None
    #: Also its ETag.
    version: int

    @classmethod
    def of(
        cls,
        account: StoredAccount,
        circuit: AccountCircuit | None,
        weights: Sequence[ChannelWeights],
        hook: HookAddress,
    ) -> "AdapterView":
        """The account as it is shown."""
        kind = kind_of(account.vendor)
        calls = kind is not None and kind.callbacks is not None
        return by_name(
            cls,
            account,
            adapter=kind.name if kind else account.vendor,
            owner="platform" if account.platform else "tenant",
            channels=sorted(kind.channels) if kind else [],
            capabilities=_capabilities(kind) if kind else {},
            circuit=circuit.circuit.state if circuit else "CLOSED",
            weights=[_weight(account.vendor, one) for one in weights if account.vendor in one.home],
            hook=hook.url if calls else None,
            hook_advice=hook.advice if calls else None,
        )


class AdapterList(Struct, frozen=True, kw_only=True):
    """All vendor accounts, also those that are switched off."""

    items: list[AdapterView]


class KindView(Struct, frozen=True, kw_only=True):
    """A kind of vendor that Tidings can speak to."""

    #: In accounts, policies and hooks; with `_` and a name of your own one more vendor of the kind.
    name: str
    #: For people.
    title: str
    channels: list[str]
    #: What it can do; null where each account's settings decide.
    capabilities: dict[str, bool | None]
    #: Settings without which an account can't be read.
    required_fields: list[str]
    #: Settings that are secret.
    credential_fields: list[str]
    #: What a price list of its counts.
    prices: list[PriceUnit]
    #: Whether it tells later what became of messages, over a hook.
    callbacks: bool
    #: How that is proven; null where there are no callbacks.
    proof: str | None
    #: How many of the vendor's codes it brings a meaning for.
    statuses: int

    @classmethod
    def of(cls, kind: AdapterKind) -> "KindView":
        """The kind as it is shown."""
        return by_name(
            cls,
            kind,
            channels=sorted(kind.channels),
            capabilities=_capabilities(kind),
            required_fields=[one.name for one in msgspec.structs.fields(kind.settings) if one.required],
            credential_fields=list(kind.credential_fields),
            prices=list(kind.prices),
            callbacks=kind.callbacks is not None,
            statuses=len(kind.statuses),
        )


class KindList(Struct, frozen=True, kw_only=True):
    """All kinds of vendors."""

    items: list[KindView]


def _capabilities(kind: AdapterKind) -> dict[str, bool | None]:
    found = msgspec.to_builtins(kind.capabilities)
    return {
        name: None if name in kind.by_settings else can
        for name, can in found.items()
        if isinstance(can, bool)
    }


def _weight(vendor: str, weights: ChannelWeights) -> AdapterWeight:
    return AdapterWeight(
        channel=weights.channel,
        home=weights.home[vendor],
        now={
            prefix: shift.points.get(vendor, 0)
            for prefix, shift in sorted(weights.shifts.items())
            if shift.points.get(vendor, 0) != weights.home_of(prefix).get(vendor, 0)
        },
    )
