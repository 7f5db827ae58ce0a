"""What an adapter declares about itself: one `AdapterKind` in each adapter's file, all that the rest knows of it."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from tidings.contracts.adapters import Adapter, Capabilities
from tidings.contracts.callback_forms import CallbackForm, Canonical, ParsedCallback
from tidings.kernel.clock import Clock
from tidings.kernel.egress import Guard, anywhere
from tidings.router.adapters.in_flight import InFlightLimit
from tidings.router.adapters.mail.dkim import FindSigners
from tidings.router.adapters.mail.return_path import WriteToken
from tidings.router.adapters.shared_pools import SharedPools

#: Takes what a vendor says over the adapter's own connection; it is durable when this returns.
InboundHandler: TypeAlias = Callable[[ParsedCallback], Awaitable[None]]
#: What a vendor's bill counts.
PriceUnit: TypeAlias = Literal["message", "segment", "minute"]


async def discard_inbound(_: ParsedCallback) -> None:
    """For adapters that are opened to ask something, and not to listen."""


def no_fixed_sender(_settings: Any, _channel: str) -> str | None:
    """For adapters that send as what the message says."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterContext:
    """What an adapter is given beside its settings."""

    clock: Clock
    #: Whether an address may be connected to; a tenant's own accounts get a strict one.
    guard: Guard = anywhere
    #: Finds the keys that sign a tenant's mail; the account's own where this is None.
    find_signers: FindSigners | None = None
    #: Writes the token of an attempt into the return path of its mail; None: there are no such addresses.
    write_token: WriteToken | None = None
    #: Who is told what the vendor says by itself.
    on_inbound: InboundHandler = discard_inbound
    #: Bounds what the accounts of a process have in flight together; each its own where none is given.
    in_flight: InFlightLimit = field(default_factory=InFlightLimit)
    #: Connections that the accounts of a process share; each has its own where none is given.
    pools: SharedPools = field(default_factory=SharedPools)


class AdapterClass(Protocol):
    """The class of an adapter."""

    #: In accounts, policies, hooks: `whatsapp_cloud`.
    name: str
    channels: frozenset[str]
    #: Those of every account; its settings may add some.
    capabilities: Capabilities

    def __call__(self, settings: Any, around: AdapterContext, /) -> Adapter:
        """The adapter of one account."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSeed:
    """What one of the vendor's codes means, unless the status map says otherwise."""

    #: As an outcome's or an event's code has it; an event without one has its word.
    code: str
    canonical: Canonical
    #: A word of ours: `invalid_address`, `hard_bounce`, `soft_bounce` and `complaint` have consequences for the address.
    reason: str


def seeds_of(rows: Iterable[tuple[str, Canonical, str]]) -> tuple[StatusSeed, ...]:
    """A table of codes, each with what it means and the reason, as the status map begins with it."""
    return tuple(
        StatusSeed(code=code, canonical=canonical, reason=reason) for code, canonical, reason in rows
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterKind:
    """One kind of adapter."""

    #: Makes an account's adapter of its settings, and says its own name, channels and capabilities.
    adapter: AdapterClass
    #: For people: `WhatsApp (Meta Cloud API)`.
    title: str
    #: Read strictly: unknown keys are refused.
    settings: type[msgspec.Struct]
    #: Settings that are secret, by their names.
    credential_fields: tuple[str, ...]
    #: The one that a secret of plain text fills; dots lead inwards.
    main_credential: str
    #: The sender that these settings put in the place of the message's, on this channel; None where the message's goes out.
    #: Over accounts that tenants share it is the one that has to be granted.
    fixed_sender: Callable[[Any, str], str | None] = no_fixed_sender
    #: Settings with keys that are the vendor's own words: none in them is a reference, whatever it ends in.
    verbatim: frozenset[str] = frozenset()
    #: What its price list counts.
    prices: tuple[PriceUnit, ...] = ("message",)
    #: Capabilities that each account's settings decide.
    by_settings: frozenset[str] = frozenset()
    #: How it tells later what became of messages, and what people wrote; None where it does not, or over its own connection.
    callbacks: CallbackForm | None = None
    #: How that is proven, in a few words: `X-Twilio-Signature: HMAC-SHA1 over the address and all fields`.
    proof: str | None = None
    statuses: tuple[StatusSeed, ...] = ()
    #: The vendor speaks over the adapter's own connection: one that was made with a consumer connects at once, and is
    #: kept open though nothing is sent.
    listens: bool = False
    name: str = field(init=False)
    channels: frozenset[str] = field(init=False)
    capabilities: Capabilities = field(init=False)

    def __post_init__(self) -> None:
        for name in ("name", "channels", "capabilities"):
            object.__setattr__(self, name, getattr(self.adapter, name))
