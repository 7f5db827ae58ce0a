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


class AddressOptOutRecorded(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`optout.recorded.v1` where somebody wrote that they want no more messages; their address is suppressed."""

    suppression_id: str
    channel: str
    #: The word that they wrote, as the list of keywords has it, and its language.
    keyword: str
    language: str
    #: Left out where it was said to another tenant, over a number that both share.
    conversation_id: str | None = None
    #: When they wrote it.
    at: datetime
    #: Left out where nobody is known by that address.
    recipient_id: str | None = None


SUPPRESSION_EVENTS: dict[str, type[Struct]] = {
    "suppression.added.v1": SuppressionAdded,
    "suppression.released.v1": SuppressionReleased,
}
