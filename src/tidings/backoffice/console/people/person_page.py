"""The page of one person: what stands on each of its tabs, and where they are reached."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import NOTHING, Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    button,
    check_field,
    confirm,
    field_row,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import (
    badge,
    code,
    empty,
    facts,
    meter,
    moment,
    note,
    percent,
    section,
    status_badge,
    tabs,
)
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.notifications.list_page import notifications_table
from tidings.backoffice.console.people.list_page import HOME, name_of
from tidings.backoffice.console.visits import Visit
from tidings.contracts.enums import CHANNELS
from tidings.kernel.http.answers import Reply

TABS: Final = ("overview", "preferences", "consents", "privacy")
#: Channels on which an address can be typed.
_TYPED: Final = tuple(channel for channel in CHANNELS if channel not in ("inapp", "webhook"))

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known around a person; None: the reader may not see it."""

    notifications: Sequence[Any] | None = None
    conversations: Sequence[Any] | None = None
    presence: Data | None = None
    counts: Data | None = None
    profile: Data | None = None
    preferences: Data = field(default_factory=dict)


def person_page(
    visit: Visit,
    person: Data,
    tab: str,
    body: Child,
    *,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """A tab in the frame of the person."""
    words = visit.words
    here = f"{HOME}/{person['id']}"
    names = {
        "overview": words["people.tab_overview"],
        "preferences": words["people.tab_preferences"],
        "consents": words["people.tab_consents"],
        "privacy": words["people.tab_privacy"],
    }
    shown = TABS if person["erased_at"] is None else ("privacy",)
    erased = None
    if person["erased_at"]:
        erased = note(words["people.erased_since"], " ", moment(person["erased_at"], exact=True), tone="warn")
    parts = tabs(words["people.tabs"], *((names[one], f"{here}?tab={one}", one == tab) for one in shown))
    return page(
        words,
        name_of(person),
        join(erased, parts, body),
        reader=visit.reader,
        here=HOME,
        trail=[(words["place.people"], HOME)],
        told=told,
        wide=True,
        status=status,
    )


def overview(visit: Visit, person: Data, around: Around, *, revealed: bool = False) -> Html:
    """Who they are, where they are reached, and what was going on."""
    left = join(_who(visit, person, around.preferences), _addresses(visit, person, revealed=revealed))
    right = join(
        _inbox(visit, around), _profile(visit, around.profile), _conversations(visit, person, around)
    )
    return join(
        el("div", el("div", left), el("div", right), class_="split"), _notifications(visit, person, around)
    )


def _who(visit: Visit, person: Data, preferences: Data) -> Html:
    words, identity = visit.words, person["identity"]
    guardian = preferences.get("guardian_routing")
    shown = None
    if guardian:
        mode = words.get(f"people.guardian_mode.{guardian['mode']}", guardian["mode"])
        shown = join(
            el("a", code(guardian["guardian_id"]), href=f"{HOME}/{guardian['guardian_id']}"), " ", mode
        )
    said_no = preferences.get("global_unsubscribed_at")
    attributes = [
        el("li", el("code", key, dir="ltr"), el("bdi", str(value)))
        for key, value in person["attributes"].items()
    ]
    return section(
        words["people.who"],
        note(words["people.said_no"], " ", moment(said_no, exact=True), tone="bad") if said_no else None,
        facts(
            (words["people.name"], el("bdi", person["display_name"]) if person["display_name"] else None),
            (
                words["people.identity"],
                el("bdi", f"{identity['type']} {identity['id'] or ''}") if identity else None,
            ),
            (words["people.id"], code(person["id"], copy=True)),
            (words["people.language"], el("bdi", preferences.get("locale") or person["locale"], dir="ltr")),
            (
                words["people.timezone"],
                el("bdi", preferences.get("timezone") or person["timezone"], dir="ltr"),
            ),
            (
                words["people.tags"],
                join(*map(badge, person["tags"]), between=" ") if person["tags"] else None,
            ),
            (words["people.guardian"], shown),
            (words["people.since"], moment(person["created_at"], exact=True)),
        ),
        el("ul", attributes, class_="rows") if attributes else None,
        id_="who",
    )


def _addresses(visit: Visit, person: Data, *, revealed: bool) -> Html:
    """Hints, unless somebody who may has asked for all of it, which is audited."""
    words, here = visit.words, f"{HOME}/{person['id']}"
    writes = visit.may("recipients:write")
    rows = [_address(visit, one, here, writes=writes) for one in person["addresses"]]
    reveal = None
    if writes and rows and not revealed:
        reveal = post_form(visit.reader, f"{here}/reveal", button(words["people.reveal"], "quiet"))
    add = None
    if writes:
        channels = [(one, words.channel(one)) for one in _TYPED]
        add = el(
            "details",
            el("summary", words["people.add_address"]),
            post_form(
                visit.reader,
                f"{here}/addresses",
                field_row(
                    select_field("channel", words["people.channel"], channels, id_="new-channel"),
                    text_field(
                        "address",
                        words["people.address"],
                        id_="new-address",
                        required=True,
                        maxlength=4096,
                        autocomplete="off",
                        dir="ltr",
                    ),
                ),
                check_field("primary", words["people.make_primary"], id_="new-primary", checked=True),
                button(words["people.add_address"]),
            ),
        )
    return section(
        words["people.addresses"],
        note(words["people.revealed"], tone="info") if revealed else None,
        el("ul", rows, class_="rows")
        if rows
        else empty(words["people.no_address"], words["people.no_address_hint"]),
        add,
        actions=reveal,
        id_="addresses",
    )


def _address(visit: Visit, one: Data, here: str, *, writes: bool) -> Html:
    words = visit.words
    marks = [
        badge(words["people.primary"], "info") if one["primary"] else None,
        badge(words["people.verified"], "good") if one["verified"] else None,
        *(
            badge(f"{words['people.unsubscribed']} {said['category'] or words['people.everything']}", "warn")
            for said in one["unsubscribed"]
        ),
    ]
    forget = None
    if writes:
        forget = confirm(
            words,
            visit.reader,
            f"{here}/addresses/{one['id']}/delete",
            words["people.forget_address"],
            words["people.forget_question"],
            kind="quiet",
        )
    return el(
        "li",
        el("span", words.channel(one["channel"]), class_="strong"),
        el("bdi", one["address"] or "–", dir="ltr"),
        *marks,
        el("span", forget, class_="actions") if forget else None,
    )


def _inbox(visit: Visit, around: Around) -> Html:
    """Whether their in-app inbox is open just now."""
    words, presence, counts = visit.words, around.presence, around.counts
    if presence is None or counts is None:
        return NOTHING
    online = presence["online"]
    mark = badge(words["people.online"] if online else words["people.offline"], "good" if online else "off")
    since = min((stream["since"] for stream in presence["streams"]), default=None)
    return section(
        words["people.inbox"],
        facts(
            (words["people.presence"], join(mark, " ", moment(since) if since else "")),
            (words["people.unread"], str(counts["unread"])),
        ),
        id_="inbox",
        live=10,
    )


def _profile(visit: Visit, profile: Data | None) -> Html:
    """What was learned about reaching them."""
    words = visit.words
    if profile is None:
        return NOTHING
    if not profile["channels"]:
        return section(
            words["people.profile"], el("p", words["people.profile_none"], class_="soft"), id_="profile"
        )
    rows = [
        el(
            "li",
            el("span", words.channel(one["channel"]), class_="strong"),
            el(
                "div",
                meter(
                    words.channel(one["channel"]),
                    one["score"],
                    words["people.profile_score"]
                    .replace("{share}", percent(words, one["score"]))
                    .replace("{count}", str(one["observations"])),
                ),
                class_="grow",
            ),
        )
        for one in profile["channels"]
    ]
    return section(
        words["people.profile"],
        el("ul", rows, class_="rows"),
        el("p", words["people.profile_hint"], class_="hint"),
        id_="profile",
    )


def _conversations(visit: Visit, person: Data, around: Around) -> Html:
    words = visit.words
    if around.conversations is None:
        return NOTHING
    listed = table(
        words["people.conversations"],
        [
            Column[Any](words["people.channel"], lambda one: words.channel(one["channel"])),
            Column[Any](
                words["people.status"],
                lambda one: status_badge(
                    words, "people", one["status"].lower(), "info" if one["status"] == "OPEN" else ""
                ),
            ),
            Column[Any](words["people.last"], lambda one: moment(one["last_message_at"]), "tight"),
        ],
        around.conversations,
        href=lambda one: f"/console/conversations/{one['id']}",
        empty=el("p", words["people.conversations_none"], class_="soft"),
    )
    every = el("a", words["people.all"], href=f"/console/conversations?recipient={person['id']}")
    return section(
        words["people.conversations"],
        listed,
        actions=every if around.conversations else None,
        id_="conversations",
    )


def _notifications(visit: Visit, person: Data, around: Around) -> Html:
    words = visit.words
    if around.notifications is None:
        return NOTHING
    every = el("a", words["people.all"], href=f"/console/notifications?recipient={person['id']}")
    return section(
        words["people.notifications"],
        notifications_table(visit, around.notifications, of_one=True),
        actions=every,
        id_="sent",
    )
