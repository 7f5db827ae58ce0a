"""What an account's messages cost: so much each, for a segment, for a minute, and otherwise where a prefix says so."""

from dataclasses import dataclass
from typing import Annotated, Final, Protocol

from msgspec import Meta, Struct

from tidings.kernel.ids import TenantId

#: No message costs more than a million of any currency.
MOST_MICROS: Final = 1_000_000_000_000

Micros = Annotated[
    int, Meta(ge=0, le=MOST_MICROS, description="must be a whole number of millionths, such as 7500")
]
Currency = Annotated[
    str, Meta(pattern=r"^[A-Z]{3}\Z", description="must be a currency of ISO 4217, such as USD")
]
#: The beginning of a telephone number as it is dialled from abroad.
Prefix = Annotated[
    str, Meta(pattern=r"^\+[1-9][0-9]{0,14}\Z", description="must be the beginning of a number, such as +93")
]


class PrefixPrice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Another price for the numbers that begin so; what is None is as for all others."""

    base_micros: Micros | None = None
    per_segment_micros: Micros | None = None
    per_minute_micros: Micros | None = None


class PriceModel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The prices of one account, in millionths of one currency."""

    currency: Currency
    #: For every message.
    base_micros: Micros = 0
    #: For every segment of an SMS, the first among them.
    per_segment_micros: Micros = 0
    #: For every minute of a call that was begun.
    per_minute_micros: Micros = 0
    #: The longest prefix of the number wins.
    by_prefix: Annotated[dict[Prefix, PrefixPrice], Meta(max_length=2000)] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCost:
    """What one message costs."""

    micros: int
    currency: str


class PriceList(Protocol):
    """What the router knows of prices."""

    async def of_text(self, tenant_id: TenantId, vendor: str, channel: str, text: str) -> MessageCost | None:
        """What this text costs with the tenant's account, without a recipient; None where no price is known."""
        ...
