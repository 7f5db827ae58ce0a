"""A line of the status map, and what it says."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from tidings.contracts.callback_forms import Canonical, Effect
from tidings.contracts.moments import Moment

#: What a code can mean; a line never says that it is unknown.
Mapped: TypeAlias = Literal[
    "accepted",
    "sent",
    "delivered",
    "delivered_read",
    "failed_temp",
    "failed_perm",
    "rejected_by_provider",
    "rejected_by_recipient",
    "timed_out",
    "cancelled",
    "bounced",
    "complaint",
    "opened",
    "clicked",
]
MAPPED: Final[tuple[Mapped, ...]] = get_args(Mapped)

#: Who writes the lines that adapters bring along.
SEED: Final = "seed"
#: Earlier versions that are kept with a line; the audit has all of them.
MOST_HISTORY: Final = 50
#: Lines that one tenant may have.
MOST_LINES: Final = 5000

_EFFECTS: Final[dict[str, Effect]] = {one: one for one in get_args(Effect)}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusMeaning:
    """What a code means."""

    canonical: Canonical
    #: A word of ours.
    reason: str

    @property
    def effect(self) -> Effect | None:
        """What it means for the address that was written to."""
        return _EFFECTS.get(self.reason)


class StatusLineVersion(msgspec.Struct, frozen=True, kw_only=True):
    """What a line said before."""

    version: int
    canonical: Mapped
    reason: str
    #: When it was changed.
    until: Moment
    #: Who had written it.
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusLine:
    """One code of one adapter, or of one vendor, as its owner reads it."""

    #: The platform's, for all tenants; a tenant's own is before it.
    platform: bool
    #: `twilio`, or a vendor's own name, such as `http_acme`.
    adapter: str
    code: str
    canonical: Mapped
    reason: str
    version: int
    updated_by: str
    updated_at: datetime
    #: Earlier versions, the oldest first; empty where they were not asked for.
    history: Sequence[StatusLineVersion] = ()
