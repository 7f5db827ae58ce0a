"""What happens to recipients, as events; ids and versions, never a name or an address."""

from datetime import datetime

from msgspec import Struct


class PreferencesUpdated(Struct, frozen=True, kw_only=True):
    """A recipient's preferences changed; whoever keeps a copy reads them again."""

    recipient_id: str
    preferences_id: str
    #: The version after the change; also its ETag.
    version: int


class PreferenceOptOutRecorded(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`optout.recorded.v1` where a recipient said no to something; it counts from the version of the preferences that is named."""

    recipient_id: str
    #: Left out: on all channels.
    channel: str | None = None
    #: Left out: all that can be said no to; with `consent`, all that needs consent.
    category: str | None = None
    #: How they said so: `one_click`, `unsubscribe_page`, `preference_page`, `api`, …
    source: str
    preferences_version: int
    #: Whether it is consent that was withdrawn.
    consent: bool = False


class ConsentRequested(Struct, frozen=True, kw_only=True):
    """Consent was told of, and waits for the person to confirm it (double opt-in)."""

    recipient_id: str
    #: Which request: a later one has another time.
    requested_at: datetime
    preferences_version: int


RECIPIENT_EVENTS: dict[str, type[Struct]] = {
    "preferences.updated.v1": PreferencesUpdated,
    "consent.requested.v1": ConsentRequested,
}
