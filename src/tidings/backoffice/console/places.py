"""Where the navigation of the console leads: every page of the first rank, with what somebody needs to see it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Group = Literal["", "messages", "people", "content", "delivery", "work", "settings", "platform"]
GROUPS: Final[tuple[Group, ...]] = (
    "",
    "messages",
    "people",
    "content",
    "delivery",
    "work",
    "settings",
    "platform",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One of them; its name in the catalogue is `place.<key>`."""

    key: str
    path: str
    group: Group
    #: What it takes to see it; None: nothing but a session.
    scope: str | None = None
    #: Keys that lead there, one after the other; empty: none.
    keys: str = ""
    #: Whether it is the platform's own, and shows nothing of a tenant.
    of_platform: bool = False
    #: Whether it shows things of a tenant, so that the platform's people have to choose one first.
    of_tenant: bool = False


PLACES: Final[tuple[Place, ...]] = (
    Place(key="home", path="/console", group="", keys="g h"),
    Place(key="alerts", path="/console/alerts", group="", scope="alerts:read", keys="g e"),
    Place(key="workbench", path="/console/workbench", group="work", keys="g k", of_tenant=True),
    Place(
        key="notifications",
        path="/console/notifications",
        group="messages",
        scope="notifications:read",
        keys="g n",
        of_tenant=True,
    ),
    Place(
        key="conversations",
        path="/console/conversations",
        group="messages",
        scope="conversations:read",
        keys="g m",
        of_tenant=True,
    ),
    Place(
        key="people",
        path="/console/people",
        group="people",
        scope="recipients:read",
        keys="g p",
        of_tenant=True,
    ),
    Place(
        key="suppressions",
        path="/console/suppressions",
        group="people",
        scope="suppressions:read",
        keys="g s",
        of_tenant=True,
    ),
    Place(
        key="imports",
        path="/console/imports",
        group="people",
        scope="suppressions:read",
        keys="g i",
        of_tenant=True,
    ),
    Place(key="templates", path="/console/templates", group="content", scope="templates:read", keys="g t"),
    Place(
        key="batches",
        path="/console/batches",
        group="content",
        scope="batches:read",
        keys="g b",
        of_tenant=True,
    ),
    Place(
        key="triggers",
        path="/console/triggers",
        group="content",
        scope="triggers:read",
        keys="g r",
        of_tenant=True,
    ),
    Place(
        key="events",
        path="/console/events",
        group="content",
        scope="events:read",
        keys="g f",
        of_tenant=True,
    ),
    Place(
        key="ai_inbox",
        path="/console/ai-inbox",
        group="work",
        scope="ai_inbox:read",
        keys="g j",
        of_tenant=True,
    ),
    Place(key="devices", path="/console/devices", group="work", keys="g d", of_tenant=True),
    Place(
        key="digests",
        path="/console/digests",
        group="content",
        scope="notifications:read",
        keys="g q",
        of_tenant=True,
    ),
    Place(key="categories", path="/console/categories", group="content", scope="templates:read"),
    Place(
        key="branding",
        path="/console/branding",
        group="content",
        scope="channels:read",
        keys="g x",
        of_tenant=True,
    ),
    Place(key="account", path="/console/account", group="settings", keys="g a"),
    Place(key="operators", path="/console/operators", group="settings", scope="operators:read", keys="g o"),
    Place(
        key="channels",
        path="/console/channels",
        group="delivery",
        scope="channels:read",
        keys="g c",
        of_tenant=True,
    ),
    Place(
        key="policies",
        path="/console/policies",
        group="delivery",
        scope="router:read",
        keys="g l",
        of_tenant=True,
    ),
    Place(
        key="webhooks",
        path="/console/webhooks",
        group="delivery",
        scope="webhooks:read",
        keys="g w",
        of_tenant=True,
    ),
    Place(key="vendors", path="/console/vendors", group="delivery", scope="router:read", keys="g u"),
    Place(
        key="health",
        path="/console/health",
        group="platform",
        scope="tenants:read",
        keys="g y",
        of_platform=True,
    ),
    Place(key="locks", path="/console/locks", group="work", scope="locks:read", of_tenant=True),
    Place(key="activity", path="/console/activity", group="settings", scope="audit:read"),
    Place(key="notes", path="/console/notes", group="settings", scope="notes:read", of_tenant=True),
    Place(key="spend", path="/console/spend", group="delivery", scope="router:read", of_tenant=True),
    Place(
        key="audit",
        path="/console/audit",
        group="settings",
        scope="audit:read",
    ),
    Place(key="api_keys", path="/console/api-keys", group="settings", scope="api_keys:read"),
    Place(key="settings", path="/console/settings", group="settings", scope="channels:read", of_tenant=True),
    Place(key="tenants", path="/console/tenants", group="platform", scope="tenants:read", of_platform=True),
    Place(
        key="platform_suppressions",
        path="/console/platform-suppressions",
        group="platform",
        scope="tenants:read",
        of_platform=True,
    ),
    Place(
        key="callbacks", path="/console/callbacks", group="platform", scope="tenants:read", of_platform=True
    ),
)


def path_of(key: str) -> str | None:
    """Where a place is, for links from other pages; None where this release has none of that name."""
    return next((place.path for place in PLACES if place.key == key), None)


def places_for(scopes: Collection[str], *, is_platform: bool) -> Sequence[Place]:
    """What somebody with these scopes is shown."""
    return [
        place
        for place in PLACES
        if (place.scope is None or place.scope in scopes) and (is_platform or not place.of_platform)
    ]
