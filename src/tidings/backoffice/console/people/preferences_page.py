"""What somebody chose: category by category and channel by channel, when they are left in peace, and who hears for them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.frame import Told
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    button,
    check_field,
    field_row,
    hidden,
    post_form,
    radio_field,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import Tone, badge, empty, facts, moment, note, section
from tidings.backoffice.console.people.list_page import HOME
from tidings.backoffice.console.people.preference_form import (
    CHANGED,
    DAYS,
    channels_shown,
    field_of,
    quiet_rows,
)
from tidings.backoffice.console.visits import Visit
from tidings.contracts.enums import CHANNELS

Data = Mapping[str, Any]
_MODES: Final = ("instead", "copy")


def preferences_tab(visit: Visit, person: Data, preferences: Data, categories: Sequence[Data]) -> Html:
    """All of it, to be changed where the reader may."""
    return join(_choices(visit, person, preferences, categories), _guardian(visit, person, preferences))


def undo_of(visit: Visit, person: Data, before: Data, after: Data) -> Told:
    """What was saved, with the button that puts back what was there."""
    words = visit.words
    kept = json.dumps({name: before[name] for name in CHANGED})
    undo = post_form(
        visit.reader,
        f"{HOME}/{person['id']}/preferences/undo",
        hidden("version", str(after["version"])),
        hidden("before", kept),
        button(words["people.undo"], "quiet"),
    )
    return Told(text=words["told.people_preferences_saved"], action=undo)


def _choices(visit: Visit, person: Data, preferences: Data, categories: Sequence[Data]) -> Html:
    words = visit.words
    writes = visit.may("recipients:write")
    channels = channels_shown(person["addresses"], preferences["channels"], CHANNELS)
    said_no = preferences["global_unsubscribed_at"]
    version = words["people.version"].replace("{version}", str(preferences["version"]))
    changed = (
        join(version, " · ", moment(preferences["updated_at"])) if preferences["updated_at"] else version
    )
    grid: Child = empty(words["people.no_address"], words["people.no_address_hint"])
    if channels:
        grid = _grid(visit, preferences, categories, channels, writes=writes)
    nothing = check_field("nothing", words["people.nothing_at_all"], checked=bool(said_no))
    if not writes:
        nothing = (
            note(words["people.said_no"], " ", moment(said_no, exact=True), tone="bad")
            if said_no
            else el("p")
        )
    body = (
        hidden("version", str(preferences["version"])),
        grid,
        nothing,
        el("h3", words["people.quiet"]),
        _quiet(visit, preferences, writes=writes),
        button(words["save"]) if writes else None,
    )
    if not writes:
        return section(words["people.choices"], el("p", changed, class_="hint"), *body[1:-1], id_="choices")
    form = post_form(visit.reader, f"{HOME}/{person['id']}/preferences", *body, data_guard=True)
    return section(words["people.choices"], el("p", changed, class_="hint"), form, id_="choices")


def _grid(
    visit: Visit, preferences: Data, categories: Sequence[Data], channels: Sequence[str], *, writes: bool
) -> Html:
    """A row for each category, a column for each channel."""
    words = visit.words
    heads = [el("th", words["people.category"], scope="col")]
    heads += [el("th", words.channel(channel), scope="col") for channel in channels]
    rows = [_row(visit, preferences, None, channels, writes=writes)]
    rows += [
        _row(visit, preferences, category, channels, writes=writes)
        for category in categories
        if not category["retired"]
    ]
    made = el(
        "table",
        el("caption", words["people.choices"], class_="unseen"),
        el("thead", el("tr", heads)),
        el("tbody", rows),
        class_="list grid",
    )
    return el("div", made, class_="scroll", role="region", aria_label=words["people.choices"], tabindex="0")


def _row(
    visit: Visit, preferences: Data, category: Data | None, channels: Sequence[str], *, writes: bool
) -> Html:
    words = visit.words
    if category is None:
        name: Child = el("span", words["people.whole_channel"], class_="strong")
    else:
        name = join(
            el("bdi", category["category"]),
            " ",
            badge(words["people.needs_consent"], "info") if category["needs_consent"] else None,
        )
    cells = [_cell(visit, preferences, category, channel, writes=writes) for channel in channels]
    return el("tr", el("th", name, scope="row"), cells)


def _cell(visit: Visit, preferences: Data, category: Data | None, channel: str, *, writes: bool) -> Html:
    words = visit.words
    chosen = preferences["channels"].get(channel) or {}
    label = words.channel(channel)
    if category is None:
        value = "no" if chosen.get("allow") is False else ""
        options = [("", words["people.allowed"]), ("no", words["people.not_allowed"])]
    else:
        if not category["can_unsubscribe"]:
            return el("td", el("span", words["people.always"], class_="soft"), data_label=label)
        said = (chosen.get("categories") or {}).get(category["category"])
        value = "" if said is None else "yes" if said else "no"
        options = [
            ("", words["people.not_chosen"]),
            ("yes", words["people.allowed"]),
            ("no", words["people.not_allowed"]),
        ]
    if not writes:
        text = dict(options)[value]
        tone: Tone = "good" if value == "yes" else "bad" if value == "no" else ""
        return el("td", badge(text, tone) if tone else el("span", text, class_="soft"), data_label=label)
    named = category["category"] if category else ""
    listed = [el("option", text, value=option, selected=option == value) for option, text in options]
    about = f"{named or words['people.whole_channel']}, {label}"
    return el("td", el("select", listed, name=field_of(channel, named), aria_label=about), data_label=label)


def _quiet(visit: Visit, preferences: Data, *, writes: bool) -> Html:
    words = visit.words
    known = preferences["quiet_hours"]
    whose = "tenant" if known is None else "own" if known else "none"
    names = {
        "tenant": words["people.quiet_tenant"],
        "none": words["people.quiet_none"],
        "own": words["people.quiet_own"],
    }
    if not writes:
        entries = [
            el("li", _days(visit, one["days"]), el("bdi", f"{one['start']}–{one['end']}", dir="ltr"))
            for one in known or ()
        ]
        return join(el("p", names[whose]), el("ul", entries, class_="rows") if entries else None)
    rows = [_quiet_row(visit, place, one) for place, one in enumerate(quiet_rows(preferences))]
    return join(radio_field("quiet", words["people.quiet_whose"], list(names.items()), whose), *rows)


def _days(visit: Visit, days: Sequence[str]) -> str:
    return ", ".join(visit.words.get(f"people.day.{day}", day) for day in days)


def _quiet_row(visit: Visit, place: int, one: Data) -> Html:
    words = visit.words
    days = [
        check_field(
            f"q{place}-{day}", words[f"people.day.{day}"], checked=day in one["days"], id_=f"q{place}-{day}"
        )
        for day in DAYS
    ]
    times = field_row(
        text_field(f"q{place}-start", words["people.quiet_start"], one["start"], kind="time"),
        text_field(f"q{place}-end", words["people.quiet_end"], one["end"], kind="time"),
    )
    zone = hidden(f"q{place}-timezone", one["timezone"]) if one.get("timezone") else None
    legend = words["people.quiet_entry"].replace("{number}", str(place + 1))
    return el("fieldset", el("legend", legend), el("div", days, class_="days"), times, zone, class_="entry")


def _guardian(visit: Visit, person: Data, preferences: Data) -> Html:
    """Who hears instead of them, or too."""
    words, known = visit.words, preferences["guardian_routing"]
    modes = [(one, words[f"people.guardian_mode.{one}"]) for one in _MODES]
    shown = None
    if known:
        path = f"{HOME}/{known['guardian_id']}"
        categories = ", ".join(known.get("categories") or ()) or words["people.everything"]
        shown = facts(
            (words["people.guardian"], el("a", el("code", known["guardian_id"], dir="ltr"), href=path)),
            (words["people.guardian_how"], words.get(f"people.guardian_mode.{known['mode']}", known["mode"])),
            (words["people.category"], categories),
        )
    if not visit.may("recipients:write"):
        return section(
            words["people.guardian"], shown or el("p", words["people.guardian_none"]), id_="guardian"
        )
    form = post_form(
        visit.reader,
        f"{HOME}/{person['id']}/guardian",
        hidden("version", str(preferences["version"])),
        field_row(
            text_field(
                "guardian",
                words["people.guardian_id"],
                known["guardian_id"] if known else "",
                hint=words["people.guardian_hint"],
                maxlength=40,
                dir="ltr",
            ),
            select_field("mode", words["people.guardian_how"], modes, known["mode"] if known else "copy"),
        ),
        button(words["save"], "quiet"),
    )
    return section(words["people.guardian"], shown, form, id_="guardian")
