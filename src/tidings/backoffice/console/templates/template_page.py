"""One template: what is in force, its versions, and what can be done with it."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, filled, join
from tidings.backoffice.console.kit.forms import (
    button,
    confirm,
    field_row,
    hidden,
    link_button,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import badge, empty, facts, moment, note, section, status_badge
from tidings.backoffice.console.kit.tables import Column, address, pager, table
from tidings.backoffice.console.templates.paths import HERE, template_path, version_path
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply


def template_page(
    visit: Visit,
    template: Mapping[str, Any],
    versions: Mapping[str, Any],
    *,
    archived: bool,
    names: Mapping[str, str],
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """What is in force, and its versions, the newest first."""
    words = visit.words
    key, channel = template["key"], template["channel"]
    body = join(
        _platform_newer(visit, template),
        section(
            words["templates.about"],
            facts(
                (words["templates.in_force"], _in_force(visit, template, archived=archived)),
                (words["templates.whose"], words[f"templates.owner.{template['owner']}"]),
                (words["templates.category"], el("bdi", template["category"])),
                (words["templates.default_language"], el("bdi", template["default_locale"])),
                (words["templates.fallback"], ", ".join(template["fallback_chain"])),
                (words["templates.customised_from"], template["customised_from"]),
                (words["templates.changed"], moment(template["updated_at"])),
            ),
            id_="about",
        ),
        section(
            words["templates.versions"],
            _versions(visit, template, versions, names),
            pager(
                words,
                template_path(key, channel),
                {name: visit.query.get(name) for name in ("owner", "cursor")},
                versions.get("next_cursor"),
            ),
            id_="versions",
        ),
        _compare(visit, template, versions["items"]),
    )
    return page(
        words,
        f"{key} · {words.channel(channel)}",
        body,
        reader=visit.reader,
        here=HERE,
        trail=[(words["templates.title"], HERE)],
        actions=_actions(visit, template, versions["items"], archived=archived),
        told=told or visit.told(),
        status=status,
    )


def _in_force(visit: Visit, template: Mapping[str, Any], *, archived: bool) -> Html:
    words = visit.words
    if archived:
        return status_badge(words, "templates", "archived")
    if template["active_version"] is None:
        return badge(words["templates.nothing_in_force"], "warn")
    return el("bdi", template["active_version"], dir="ltr")


def _platform_newer(visit: Visit, template: Mapping[str, Any]) -> Child:
    """The platform has published since this was copied: what has changed, and how to take it over."""
    if not template["platform_newer"]:
        return None
    words = visit.words
    key, channel = template["key"], template["channel"]
    changed = address(
        f"{template_path(key, channel)}/diff",
        {
            "from": template["customised_from"],
            "from_owner": "platform",
            "to": template["platform_newer"],
            "to_owner": "platform",
        },
    )
    text = filled(words["templates.newer_text"], version=template["platform_newer"])
    noted = None
    if visit.may("templates:write"):
        noted = post_form(
            visit.reader,
            f"{template_path(key, channel)}/customise",
            hidden("note_only", "yes"),
            button(words["templates.note_only"], "quiet"),
        )
    return el(
        "div",
        note(text, " ", el("a", words["templates.see_changes"], href=changed), tone="info"),
        el("div", noted, class_="actions") if noted else None,
        class_="card",
    )


def _versions(
    visit: Visit, template: Mapping[str, Any], versions: Mapping[str, Any], names: Mapping[str, str]
) -> Html:
    words = visit.words
    key, channel = template["key"], template["channel"]
    owner = "platform" if template["owner"] == "platform" else None

    def marks(one: Mapping[str, Any]) -> Html:
        ai = badge(words["templates.ai_drafted"], "info") if one["source"] == "ai_drafted" else None
        return join(status_badge(words, "templates", one["status"]), ai, between=" ")

    return table(
        words["templates.versions"],
        [
            Column[dict[str, Any]](
                words["templates.version"], lambda one: el("bdi", one["semver"], dir="ltr")
            ),
            Column[dict[str, Any]](words["status"], marks),
            Column[dict[str, Any]](
                words["templates.languages"], lambda one: el("span", ", ".join(one["locales"]), dir="ltr")
            ),
            Column[dict[str, Any]](
                words["templates.author"],
                lambda one: el("bdi", names.get(one["created_by"], one["created_by"])),
            ),
            Column[dict[str, Any]](words["templates.published"], lambda one: moment(one["published_at"])),
        ],
        versions["items"],
        href=lambda one: address(version_path(key, channel, one["semver"]), {"owner": owner}),
        empty=empty(words["templates.no_versions"]),
    )


def _compare(visit: Visit, template: Mapping[str, Any], versions: list[dict[str, Any]]) -> Child:
    words = visit.words
    if len(versions) < 2:
        return None
    options = [(one["semver"], one["semver"]) for one in versions]
    fields = field_row(
        select_field("from", words["templates.from"], options, options[1][0]),
        select_field("to", words["templates.to"], options, options[0][0]),
    )
    owner = "platform" if template["owner"] == "platform" else None
    sides = [hidden(name, owner) for name in ("from_owner", "to_owner")] if owner else None
    path = f"{template_path(template['key'], template['channel'])}/diff"
    form = el("form", fields, sides, button(words["templates.compare"], "quiet"), action=path)
    return section(words["templates.compare"], form, id_="compare")


def _actions(
    visit: Visit, template: Mapping[str, Any], versions: list[dict[str, Any]], *, archived: bool
) -> Child:
    words, reader = visit.words, visit.reader
    path = template_path(template["key"], template["channel"])
    export = address(f"{HERE}/export", {"key": template["key"], "channel": template["channel"]})
    found: list[Child] = [link_button(words["templates.export"], export, "quiet")]
    if not visit.may("templates:write"):
        return found
    of_tenant = not visit.tenant_is_missing
    if template["owner"] == "platform" and of_tenant:
        copy = post_form(reader, f"{path}/customise", button(words["templates.customise"]))
        return [copy, *found]
    if archived:
        return [post_form(reader, f"{path}/restore", button(words["templates.restore"])), *found]
    earlier = [one["semver"] for one in versions if one["status"] == "archived" and one["published_at"]]
    if earlier and template["active_version"]:
        to = select_field("to", words["templates.rollback_to"], [(one, one) for one in earlier], earlier[0])
        found.append(
            confirm(
                words,
                reader,
                f"{path}/rollback",
                words["templates.rollback"],
                words["templates.rollback_question"],
                fields=(to, reason_field(visit, "rollback-reason")),
                kind="quiet",
            )
        )
    found.append(
        confirm(
            words,
            reader,
            f"{path}/archive",
            words["templates.archive"],
            words["templates.archive_question"],
            fields=reason_field(visit, "archive-reason"),
        )
    )
    if versions:
        found.append(_next_draft(visit, template, versions))
    return found


def _next_draft(visit: Visit, template: Mapping[str, Any], versions: list[dict[str, Any]]) -> Html:
    """Leads to the draft that there is, or makes one from what is in force."""
    words = visit.words
    key, channel = template["key"], template["channel"]
    newest = versions[0]
    if newest["status"] == "draft":
        return link_button(words["templates.edit_draft"], version_path(key, channel, newest["semver"]))
    base = template["active_version"] or newest["semver"]
    return post_form(
        visit.reader, version_path(key, channel, base, "/copy"), button(words["templates.new_version"])
    )


def reason_field(visit: Visit, id_: str) -> Html:
    """Why; the audit keeps it."""
    return text_field(
        "reason",
        visit.words["templates.reason"],
        id_=id_,
        hint=visit.words["templates.reason_hint"],
        maxlength=500,
    )
