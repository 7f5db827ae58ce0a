"""`operators`: how operators like to work: preferences, and which keys do what."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from tidings.backoffice.upstreams.contract.texts import ShortText, UpstreamId


class UpstreamPreferences(Struct, frozen=True, kw_only=True):
    """Preferences of one operator, for all properties or for one; the ETag of the answer is the version."""

    operator_id: UpstreamId
    version: Annotated[int, Meta(ge=0)]
    preferences: dict[str, Any]
    #: None: for all properties.
    property_id: UpstreamId | None = None


class PutPreferences(Struct, frozen=True, kw_only=True):
    """All of them anew, with `If-Match`; a version that is not the newest is refused with 412."""

    preferences: dict[str, Any]


class Shortcut(Struct, frozen=True, kw_only=True):
    """A key, or keys after each other, and where they lead."""

    #: As in `g w`, `?`, `Shift+N`.
    keys: Annotated[str, Meta(min_length=1, max_length=40)]
    action: UpstreamId
    title: ShortText


class ShortcutMap(Struct, frozen=True, kw_only=True):
    """Which keys do what, for one version of a tenant's theme."""

    theme_version: ShortText
    shortcuts: Annotated[list[Shortcut], Meta(max_length=200)]
