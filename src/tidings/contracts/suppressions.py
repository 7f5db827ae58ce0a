"""What happens to suppressions, as events; ids and facts, never the address nor its hash."""

from datetime import datetime

from msgspec import Struct


class SuppressionAdded(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An address must not be written to any more."""

    suppression_id: str
    channel: str
    reason: str
    #: Left out: for good.
    expires_at: datetime | None = None


class SuppressionReleased(Struct, frozen=True, kw_only=True):
    """An address may be written to again."""

    suppression_id: str
    channel: str
    reason: str


SUPPRESSION_EVENTS: dict[str, type[Struct]] = {
    "suppression.added.v1": SuppressionAdded,
    "suppression.released.v1": SuppressionReleased,
}
