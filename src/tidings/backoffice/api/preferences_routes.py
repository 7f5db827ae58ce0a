"""Operations on how somebody likes to work: preferences, shortcuts, and which flags are on."""

from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from tidings.backoffice.attestations.attest import seat_of
from tidings.backoffice.preferences.errors import OperatorOfTenantError
from tidings.backoffice.preferences.mirror import PreferencesMirror
from tidings.backoffice.preferences.model import Choices, KnownPreferences
from tidings.backoffice.preferences.shortcuts import KEPT, Shortcuts
from tidings.kernel.flags.flags import Flags
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import ANY_CALLER, Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.resources import Owner, Resource

preferences = Resource("operator-preferences", at="", tag="preferences", owner=Owner.OPERATOR)

_PropertyId = Annotated[str, Meta(min_length=1, max_length=64)]
_PROBLEMS: Final = [
    "operators_only",
    "operator_of_tenant",
    "property_not_found",
    "preferences_not_found",
    "upstream_away",
    "upstream_not_connected",
]
#: Seconds that a browser may remember which flags are on.
_FLAGS_KEPT: Final = 30


class OfProperty(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For which property; left out: for all."""

    property_id: _PropertyId | None = None


class PutOperatorPreferences(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of them anew."""

    preferences: Choices


class OperatorPreferencesView(Struct, frozen=True, kw_only=True):
    """How somebody likes to work."""

    property_id: str | None
    version: int
    preferences: dict[str, Any]
    #: The service that keeps them does not answer: they are as it had them last.
    stale: bool

    @classmethod
    def of(cls, known: KnownPreferences) -> "OperatorPreferencesView":
        """What is shown of them."""
        return cls(
            property_id=known.property_id,
            version=known.version,
            preferences=dict(known.preferences),
            stale=known.is_stale,
        )


class OfTheme(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For which version of the tenant's theme."""

    theme_version: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}\Z")] = "1"


class ShortcutView(Struct, frozen=True, kw_only=True):
    """Keys, and what they do."""

    keys: str
    action: str
    title: str


class ShortcutMapView(Struct, frozen=True, kw_only=True):
    """Which keys do what."""

    theme_version: str
    shortcuts: list[ShortcutView]


class FlagView(Struct, frozen=True, kw_only=True):
    """A feature flag."""

    key: str
    enabled: bool


class FlagList(Struct, frozen=True, kw_only=True):
    """Every flag that there is."""

    items: list[FlagView]


@preferences.get("/preferences", scope=ANY_CALLER, problems=_PROBLEMS)
async def show_own_preferences(
    query: OfProperty, caller: Caller, mirror: PreferencesMirror
) -> Answer[OperatorPreferencesView]:
    """Show your own preferences: for all properties, or for one."""
    known = await mirror.show(caller, query.property_id)
    return Answer(OperatorPreferencesView.of(known), version=known.version)


@preferences.put("/preferences", scope=ANY_CALLER, if_match="required", problems=_PROBLEMS)
async def put_own_preferences(
    query: OfProperty,
    body: PutOperatorPreferences,
    caller: Caller,
    if_match: IfMatch,
    mirror: PreferencesMirror,
) -> Answer[OperatorPreferencesView]:
    """Change your own preferences: at the service that keeps them first, from the version that you know."""
    known = await mirror.put(caller, query.property_id, body.preferences, if_match)
    return Answer(OperatorPreferencesView.of(known), version=known.version)


@preferences.get(
    "/shortcuts",
    scope=ANY_CALLER,
    problems=["operators_only", "operator_of_tenant", "upstream_away", "upstream_not_connected"],
)
async def show_shortcuts(query: OfTheme, caller: Caller, shortcuts: Shortcuts) -> Answer[ShortcutMapView]:
    """Show which keys do what, for a version of the tenant's theme; remembered for an hour."""
    seat_of(caller)
    if caller.tenant_id is None:
        raise OperatorOfTenantError
    found = await shortcuts.of(caller.tenant_id, query.theme_version)
    shown = ShortcutMapView(
        theme_version=found.theme_version,
        shortcuts=[
            ShortcutView(keys=one.keys, action=one.action, title=one.title) for one in found.shortcuts
        ],
    )
    return Answer(shown, headers={"Cache-Control": f"private, max-age={int(KEPT.total_seconds())}"})


@preferences.get("/flags", scope=ANY_CALLER, problems=["operators_only"])
async def show_flags(caller: Caller, flags: Flags) -> Answer[FlagList]:
    """Show which feature flags are on for your tenant; a browser may remember it for 30 seconds."""
    seat_of(caller)
    known = await flags.all_of(caller.tenant_id)
    shown = FlagList(items=[FlagView(key=key, enabled=known[key]) for key in sorted(known)])
    return Answer(shown, headers={"Cache-Control": f"private, max-age={_FLAGS_KEPT}"})
