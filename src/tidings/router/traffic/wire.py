"""Circuits and weights as JSON: what requests bring and answers show."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.contracts.enums import Vendor
from tidings.contracts.moments import Moment
from tidings.contracts.prices import Prefix
from tidings.contracts.text import Reason
from tidings.kernel.mapping import by_name
from tidings.router.traffic.circuit import CircuitState, Counts, Override, without_numbers
from tidings.router.traffic.traffic_state import AccountCircuit, ChannelWeights

_Points = Annotated[int, Meta(ge=0, le=100, description="must be from 0 to 100")]
_Share = Annotated[dict[Vendor, _Points], Meta(max_length=10)]


class HoldCircuit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a circuit is to stand, whatever is counted."""

    #: OPEN: nothing goes through the account. CLOSED: all goes.
    state: Literal["OPEN", "CLOSED"]
    #: Why; it stays in the audit.
    reason: Reason
    #: Until when; until it is let go where it is left out.
    until: Moment | None = None

    def override(self) -> Override:
        """The same for the inside."""
        return Override(state=self.state, until=self.until, reason=self.reason)


class LetGo(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a circuit is to follow the counts again."""

    reason: Annotated[Reason | None, Meta(description="Why; it stays in the audit.")] = None


class HeldView(Struct, frozen=True, kw_only=True):
    """A person holds the circuit as it stands."""

    until: Moment | None
    #: Null for tenants where the account is the platform's.
    reason: str | None


class CountsView(Struct, frozen=True, kw_only=True):
    """Calls of the last minute, of all processes."""

    calls: int
    failed: int
    slow: int

    @classmethod
    def of(cls, counts: Counts) -> "CountsView":
        """The counts as they are shown."""
        return by_name(cls, counts)


class CircuitView(Struct, frozen=True, kw_only=True):
    """The circuit of a vendor account."""

    account_id: str
    vendor: str
    #: `platform`: of an account that all tenants may use.
    owner: Literal["tenant", "platform"]
    state: CircuitState
    #: When it came to stand so; null where it always did.
    since: Moment | None
    #: OPEN: from when on it is tried again.
    until: Moment | None
    #: Without numbers for tenants where the account is the platform's.
    reason: str | None
    held: HeldView | None
    #: Null for tenants where the account is the platform's: others use it too.
    last_minute: CountsView | None

    @classmethod
    def of(cls, one: AccountCircuit, counts: Counts, *, shared: bool) -> "CircuitView":
        """The circuit as it is shown; `shared`: to somebody who is one of many that use the account."""
        circuit = one.circuit
        held = circuit.override
        return by_name(
            cls,
            circuit,
            account_id=one.account_id,
            vendor=one.vendor,
            owner="platform" if one.tenant_id is None else "tenant",
            reason=without_numbers(circuit.reason) if shared and circuit.reason else circuit.reason,
            held=HeldView(until=held.until, reason=None if shared else held.reason) if held else None,
            last_minute=None if shared else CountsView.of(counts),
        )


class CircuitList(Struct, frozen=True, kw_only=True):
    """The circuits of all accounts that can be sent through."""

    items: list[CircuitView]


class PutWeights(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How vendors share a channel, whole."""

    #: Points by vendor, 100 in all; an empty object: no weights, vendors are called in their order.
    home: _Share
    #: The same for single countries, by calling code such as `+93`.
    by_prefix: Annotated[dict[Prefix, _Share], Meta(max_length=300)] = {}


class ShiftView(Struct, frozen=True, kw_only=True):
    """Points as they are now for one country."""

    #: Empty for addresses without a country, such as mail addresses.
    prefix: str
    points: dict[str, int]
    #: When points last moved.
    moved_at: Moment


class WeightsView(Struct, frozen=True, kw_only=True):
    """How vendors share a channel."""

    channel: str
    #: `platform`: for all tenants that have no weights of their own.
    owner: Literal["tenant", "platform"]
    #: Where points belong.
    home: dict[str, int]
    by_prefix: dict[str, dict[str, int]]
    #: Where they are now; countries that are not named are at home.
    moved: list[ShiftView]
    version: int

    @classmethod
    def of(cls, weights: ChannelWeights) -> "WeightsView":
        """The weights as they are shown."""
        return by_name(
            cls,
            weights,
            owner="platform" if weights.tenant_id is None else "tenant",
            home=dict(weights.home),
            by_prefix={prefix: dict(points) for prefix, points in weights.by_prefix.items()},
            moved=[
                ShiftView(prefix=prefix, points=dict(shift.points), moved_at=shift.moved_at)
                for prefix, shift in sorted(weights.shifts.items())
                if shift.points != weights.home_of(prefix)
            ],
        )


class WeightsList(Struct, frozen=True, kw_only=True):
    """The weights of all channels that have any."""

    items: list[WeightsView]
