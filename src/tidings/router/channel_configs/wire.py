"""Vendor accounts as JSON: what requests bring and answers show. References to secrets are the channels' business."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from tidings.contracts.prices import PriceModel
from tidings.router.adapters.registry import AdapterKind, kind_of
from tidings.router.channel_configs.store import StoredAccount
from tidings.router.traffic.circuit import CircuitState
from tidings.router.traffic.known import AccountCircuit, ChannelWeights

_PerSecond = Annotated[int, Meta(ge=1, le=1_000_000)]
_PerDay = Annotated[int, Meta(ge=1, le=2_000_000_000)]
#: By kind, what each account says for itself.
_BY_SETTINGS: Final[Mapping[str, frozenset[str]]] = {"http": frozenset({"idempotent", "receipts", "cancel"})}


class PutAdapter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an account costs and how much it takes, whole: what is left out has no price, or no limit."""

    #: In millionths of a currency; the longest prefix of a number wins.
    prices: PriceModel | None = None
    #: How many messages the vendor takes.
    per_second: _PerSecond | None = None
    per_day: _PerDay | None = None


class AdapterWeight(Struct, frozen=True, kw_only=True):
    """The account's share of a channel."""

    channel: str
    #: Where its points belong, of 100.
    home: int
    #: Where they are now, by calling code, for countries where they are elsewhere.
    now: dict[str, int]


class AdapterView(Struct, frozen=True, kw_only=True):
    """A vendor account that can be sent through."""

    id: str
    vendor: str
    #: The adapter behind the vendor's name: `http` of `http_acme`.
    adapter: str
    #: `platform`: one that all tenants may use.
    owner: Literal["tenant", "platform"]
    channels: list[str]
    #: What it can do; null where that is in the account's own settings, which are as secret as its credentials.
    capabilities: dict[str, bool | None]
    handle: str | None
    per_second: int | None
    per_day: int | None
    prices: PriceModel | None
    circuit: CircuitState
    weights: list[AdapterWeight]
    #: Also its ETag.
    version: int

    @classmethod
    def of(
        cls, account: StoredAccount, circuit: AccountCircuit | None, weights: Sequence[ChannelWeights]
    ) -> "AdapterView":
        """The account as it is shown."""
        kind = kind_of(account.vendor)
        return cls(
            id=account.id,
            vendor=account.vendor,
            adapter=kind.name if kind else account.vendor,
            owner="platform" if account.platform else "tenant",
            channels=sorted(kind.channels) if kind else [],
            capabilities=_capabilities(kind) if kind else {},
            handle=account.handle,
            per_second=account.per_second,
            per_day=account.per_day,
            prices=account.prices,
            circuit=circuit.circuit.state if circuit else "CLOSED",
            weights=[_weight(account.vendor, one) for one in weights if account.vendor in one.home],
            version=account.version,
        )


class AdapterList(Struct, frozen=True, kw_only=True):
    """All vendor accounts that can be sent through."""

    items: list[AdapterView]


def _capabilities(kind: AdapterKind) -> dict[str, bool | None]:
    by_settings = _BY_SETTINGS.get(kind.name, frozenset())
    found = msgspec.to_builtins(kind.capabilities)
    return {
        name: None if name in by_settings else can for name, can in found.items() if isinstance(can, bool)
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
