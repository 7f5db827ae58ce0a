"""What the ladders get to hear when they ask who is to carry a message."""

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

CIRCUIT_OPEN: Final = "circuit_open"
#: The account is switched off, and there is no other.
ACCOUNT_OFF: Final = "account_off"

#: There is one vendor.
ONLY: Final = "only"
#: There are several, without weights: the first in their order.
FIRST: Final = "first"
#: The others were called in this step already.
NOT_TRIED: Final = "not tried yet"


class ChosenVendor(Struct, frozen=True):
    """Who is to be called."""

    vendor: str
    #: None where the tenant has no account with it.
    account_id: str | None
    #: `only`, `first`, `not tried yet`, `weight 70:30`, `circuit of X open`, `account of X off`, `probe`.
    why: str


class NoVendorAvailable(Struct, frozen=True):
    """No vendor can be called now."""

    reason: Literal["circuit_open", "account_off"]
    #: When to ask again.
    until: datetime


class AdmissionResult(Struct, frozen=True):
    """How many of those asked for may go now."""

    count: int
    #: When the next one may; None where all may.
    until: datetime | None = None
    #: Whether the others wait for the pace of their batch, and not for the account.
    paced: bool = False
