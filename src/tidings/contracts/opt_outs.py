"""A no, as others hear of it: written from an address, or told in the preferences. Its writers each fill in what they know."""

from msgspec import Struct

from tidings.contracts.moments import Moment


class OptOutRecorded(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody said no: by a word that they wrote (`suppression_id`), or in their preferences (`preferences_version`)."""

    #: Left out where nobody is known by the address that wrote.
    recipient_id: str | None = None
    #: Left out: on all channels.
    channel: str | None = None
    #: Of a no in the preferences. Left out: all that can be said no to; with `consent`, all that needs consent.
    category: str | None = None
    #: Of a no in the preferences: how they said so: `one_click`, `unsubscribe_page`, `preference_page`, `api`, …
    source: str | None = None
    #: Of a no in the preferences: the version from which it counts.
    preferences_version: int | None = None
    #: Whether it is consent that was withdrawn.
    consent: bool = False
    #: Of a word that they wrote: what suppresses their address.
    suppression_id: str | None = None
    #: The word that they wrote, as the list of keywords has it, and its language.
    keyword: str | None = None
    language: str | None = None
    #: Left out where it was said to another tenant, over a number that both share.
    conversation_id: str | None = None
    #: When they wrote it.
    at: Moment | None = None


OPT_OUT_EVENTS: dict[str, type[Struct]] = {"optout.recorded.v1": OptOutRecorded}
