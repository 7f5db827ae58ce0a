"""The list of templates, and the form for a new one."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    any_of,
    button,
    field_row,
    filter_form,
    link_button,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import badge, empty, moment, number, status_badge
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.templates.paths import HERE, template_path, version_path
from tidings.backoffice.console.visits import Visit
from tidings.contracts.enums import CHANNELS
from tidings.kernel.http.answers import Reply

STATES = ("active", "draft", "archived")


def templates_page(
    visit: Visit,
    found: Mapping[str, Any],
    names: Mapping[str, str],
    waiting: Mapping[tuple[str, str], str],
) -> Reply:
    """Which templates there are, whose, in which state, and who waits for an approval."""
    words, query = visit.words, visit.query
    filters = filter_form(
        words,
        HERE,
        text_field("key", words["templates.key"], query.get("key"), dir="ltr", spellcheck="false"),
        select_field(
            "channel", words["templates.channel"], any_of(words, channels(words)), query.get("channel")
        ),
        select_field(
            "status",
            words["status"],
            any_of(words, [(one, words[f"templates.status.{one}"]) for one in STATES]),
            query.get("status"),
        ),
    )
    listed = table(
        words["templates.title"],
        [
            Column[dict[str, Any]](words["templates.key"], lambda one: el("bdi", one["key"], dir="ltr")),
            Column[dict[str, Any]](words["templates.channel"], lambda one: words.channel(one["channel"])),
            Column[dict[str, Any]](words["status"], lambda one: _state(visit, one, names, waiting)),
            Column[dict[str, Any]](words["templates.newest"], lambda one: _newest(visit, one)),
            Column[dict[str, Any]](words["templates.languages"], _languages),
            Column[dict[str, Any]](words["templates.used"], lambda one: _used(words, one), "num"),
            Column[dict[str, Any]](words["templates.changed"], lambda one: moment(one["updated_at"])),
        ],
        found["items"],
        href=lambda one: template_path(one["key"], one["channel"], one["owner"]),
        empty=_none(visit),
    )
    kept = {name: query.get(name) for name in ("key", "channel", "status", "cursor")}
    body = join(filters, listed, pager(words, HERE, kept, found.get("next_cursor")))
    return page(
        words,
        words["templates.title"],
        body,
        reader=visit.reader,
        here=HERE,
        actions=_actions(visit),
        told=visit.told(),
        wide=True,
    )


def new_template_page(
    visit: Visit,
    categories: Sequence[tuple[str, str]],
    fields: Mapping[str, str],
    *,
    errors: Mapping[str, str] | None = None,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """What a template is called, where it goes and what it begins with."""
    words, wrong = visit.words, errors or {}
    form = post_form(
        visit.reader,
        f"{HERE}/new",
        field_row(
            text_field(
                "key",
                words["templates.key"],
                fields.get("key"),
                hint=words["templates.key_hint"],
                error=wrong.get("key"),
                required=True,
                maxlength=100,
                dir="ltr",
                spellcheck="false",
                autocapitalize="none",
            ),
            select_field(
                "channel", words["templates.channel"], channels(words), fields.get("channel", "email")
            ),
        ),
        field_row(
            select_field(
                "category",
                words["templates.category"],
                categories,
                fields.get("category"),
                hint=words["templates.category_hint"],
                error=wrong.get("category"),
            ),
            text_field(
                "locale",
                words["templates.first_language"],
                fields.get("locale", "en"),
                hint=words["templates.language_hint"],
                error=wrong.get("default_locale") or wrong.get("locales"),
                required=True,
                maxlength=35,
                dir="ltr",
                spellcheck="false",
            ),
        ),
        button(words["templates.write_it"]),
    )
    return page(
        words,
        words["templates.new"],
        el("section", form, class_="card"),
        reader=visit.reader,
        here=HERE,
        trail=[(words["templates.title"], HERE)],
        told=told,
        status=status,
    )


def channels(words: ConsoleStrings) -> list[tuple[str, str]]:
    """The channels by their names."""
    return [(one, words.channel(one)) for one in CHANNELS]


def _actions(visit: Visit) -> Child:
    words = visit.words
    found = [link_button(words["templates.export"], f"{HERE}/export", "quiet")]
    if visit.may("templates:write"):
        found.append(link_button(words["templates.import"], f"{HERE}/import", "quiet"))
        found.append(link_button(words["templates.new"], f"{HERE}/new"))
    return found


def _state(
    visit: Visit, one: Mapping[str, Any], names: Mapping[str, str], waiting: Mapping[tuple[str, str], str]
) -> Html:
    words = visit.words
    whose = badge(words[f"templates.owner.{one['owner']}"])
    if one["archived"]:
        return join(status_badge(words, "templates", "archived"), whose, between=" ")
    state = "active" if one["active_version"] else one["latest_status"] or "draft"
    shown: list[Child] = [status_badge(words, "templates", state), whose]
    if one["platform_newer"]:
        shown.append(badge(words["templates.newer"].replace("{version}", one["platform_newer"]), "warn"))
    asker = one["approval_asked_by"]
    if one["latest_status"] == "draft" and one["owner"] == "tenant":
        asker = waiting.get((one["key"], one["channel"])) or asker
    if asker:
        text = words["templates.asks"].replace("{name}", names.get(asker, asker))
        shown.append(badge(text, "warn"))
    return join(*shown, between=" ")


def _newest(visit: Visit, one: Mapping[str, Any]) -> Child:
    if not one["latest_version"]:
        return None
    words = visit.words
    link = el(
        "a",
        one["latest_version"],
        href=version_path(one["key"], one["channel"], one["latest_version"]),
        dir="ltr",
    )
    if one["latest_status"] == "draft":
        return join(link, status_badge(words, "templates", "draft"), between=" ")
    return link


def _languages(one: Mapping[str, Any]) -> Html:
    tags = one["locales"] or [one["default_locale"]]
    return el("span", join(*(el("span", tag, class_="whole") for tag in tags), between=" "), dir="ltr")


def _used(words: ConsoleStrings, one: Mapping[str, Any]) -> str:
    return "–" if one["accepted_30_days"] is None else number(words, one["accepted_30_days"])


def _none(visit: Visit) -> Html:
    words = visit.words
    new = link_button(words["templates.new"], f"{HERE}/new") if visit.may("templates:write") else None
    return empty(words["templates.none"], words["templates.none_hint"], new)
