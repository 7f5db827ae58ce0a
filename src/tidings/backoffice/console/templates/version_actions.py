"""What can be done with a version, and where its words come from."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.html import Child, el
from tidings.backoffice.console.kit.forms import button, confirm, post_form
from tidings.backoffice.console.kit.marks import badge, facts, moment, section, status_badge
from tidings.backoffice.console.templates.paths import template_path, version_path
from tidings.backoffice.console.templates.template_page import reason_field
from tidings.backoffice.console.visits import Visit


def actions(
    visit: Visit,
    key: str,
    channel: str,
    version: Mapping[str, Any],
    *,
    may_edit: bool,
    of_other: bool,
    asked_by: str | None,
) -> Child:
    """Buttons beside the heading: a draft is saved, shown to somebody else, and published; what was published is copied."""
    words, reader = visit.words, visit.reader
    path = version_path(key, channel, version["semver"])
    state = status_badge(words, "templates", version["status"])
    if not visit.may("templates:write"):
        return state
    if of_other:
        copy = post_form(
            reader, f"{template_path(key, channel)}/customise", button(words["templates.customise"])
        )
        return [state, copy]
    if not may_edit:
        found: list[Child] = [state]
        if version["status"] == "active":
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
        found.append(post_form(reader, f"{path}/copy", button(words["templates.new_version"])))
        return found
    drafted = version["ai_provenance"] or {}
    wrote = (version["created_by"], drafted.get("requested_by"), *drafted.get("changed_by", ()))
    # The first of them is what Enter in a field does.
    found = [
        state,
        button(words["save"], "quiet", form="editor", name="do", value="save"),
        button(words["templates.publish"], form="editor", name="do", value="publish"),
    ]
    if version["approved_by"] is None:
        if visit.caller.actor not in wrote and (drafted or asked_by):
            found.append(
                button(words["templates.approve"], "quiet", form="editor", name="do", value="approve")
            )
        elif asked_by is None:
            found.append(button(words["templates.ask"], "quiet", form="editor", name="do", value="ask"))
    found.append(
        confirm(
            words,
            reader,
            f"{path}/delete",
            words["templates.delete"],
            words["templates.delete_question"],
            hide={"version": str(version["version"])},
        )
    )
    return found


def provenance(
    visit: Visit, names: Mapping[str, str], version: Mapping[str, Any], asked_by: str | None
) -> Child:
    """Which machine has drafted it, who asked for that, who has approved it, and who waits for an approval."""
    words, drafted = visit.words, version["ai_provenance"]
    if drafted is None and version["approved_by"] is None and asked_by is None:
        return None

    def called(actor: str | None) -> Child:
        return None if actor is None else el("bdi", names.get(actor, actor))

    rows: list[tuple[str, Child]] = []
    if drafted is not None:
        rows += [
            (words["templates.model"], el("bdi", drafted["model"])),
            (words["templates.requested_by"], called(drafted.get("requested_by") or version["created_by"])),
        ]
    if asked_by is not None:
        rows.append((words["templates.asked_by"], called(asked_by)))
    approved: Child = badge(words["templates.not_approved"], "warn")
    if version["approved_by"]:
        approved = el("span", called(version["approved_by"]), " ", moment(version["approved_at"]))
    rows.append((words["templates.approved_by"], approved))
    text = el("p", words["templates.ai_note"], class_="soft") if drafted is not None else None
    return section(words["templates.origin"], facts(*rows), text, id_="origin")
