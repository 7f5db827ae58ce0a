"""What happens to recipients, as events; ids and versions, never a name or an address."""

from msgspec import Struct


class PreferencesUpdated(Struct, frozen=True, kw_only=True):
    """A recipient's preferences changed; whoever keeps a copy reads them again."""

    recipient_id: str
    preferences_id: str
    #: The version after the change; also its ETag.
    version: int


RECIPIENT_EVENTS: dict[str, type[Struct]] = {"preferences.updated.v1": PreferencesUpdated}
