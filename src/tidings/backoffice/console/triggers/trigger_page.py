"""One trigger: what it does, its form, its versions, what it has done."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.differences import marked
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    check_field,
    confirm,
    field_row,
    hidden,
    link_button,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import code, facts, moment, more, note, said, section
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.triggers.list_page import HERE, Row, states, when
from tidings.backoffice.console.triggers.trigger_form import UNITS
from tidings.backoffice.console.visits import Visit
from tidings.contracts.enums import CHANNELS
from tidings.kernel.http.answers import Reply

_PLAIN: Mapping[str, Any] = {
    "dir": "ltr",
    "spellcheck": "false",
    "autocapitalize": "none",
    "autocomplete": "off",
}
_NAMED = ("primary_guest", "iam_subject", "vendor_assignee", "tenant_admins")


def trigger_page(
    visit: Visit,
    trigger: Row | None,
    typed: Typed,
    *,
    templates: Sequence[str] = (),
    categories: Sequence[str] = (),
    versions: Sequence[Row] = (),
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """A trigger of one's own in its form, one of the platform's to be looked at, or a new one."""
    words = visit.words
    is_own = trigger is None or trigger["owner"] == "tenant"
    parts: list[Child] = []
    if trigger is not None:
        parts += [note(said(text)) for text in trigger["warnings"]]
        if not is_own:
            parts.append(note(words["triggers.of_platform"], tone="info"))
        parts.append(section(words["triggers.about"], _facts(visit, trigger), id_="about"))
    if is_own and visit.may("triggers:write"):
        parts.append(_form(visit, trigger, typed, templates, categories))
    if len(versions) > 1:
        parts.append(section(words["triggers.history"], _history(versions), id_="history"))
    name = words["triggers.new"] if trigger is None else trigger["name"] or trigger["template"]
    return page(
        words,
        name,
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[(words["triggers.title"], HERE)],
        actions=None if trigger is None else _actions(visit, trigger),
        told=told or visit.told(),
        status=status,
    )


def _facts(visit: Visit, trigger: Row) -> Html:
    words, people = visit.words, trigger["recipient"]
    listed = [people] if isinstance(people, str) else people
    return facts(
        (words["status"], states(words, trigger)),
        (words["triggers.event_type"], code(trigger["event_type"])),
        (words["triggers.condition"], code(trigger["condition"]) if trigger["condition"] else None),
        (words["triggers.recipient"], join(*(code(one) for one in listed), between=", ")),
        (words["triggers.template"], code(trigger["template"])),
        (words["triggers.channel"], words.channel(trigger["channel"])),
        (words["triggers.when"], when(words, trigger)),
        (words["triggers.cancelled_by"], ", ".join(trigger["cancelled_by"])),
        (words["triggers.replanned_by"], ", ".join(trigger["replanned_by"])),
        (words["triggers.changed"], moment(trigger["updated_at"])),
        (words["triggers.id"], code(trigger["id"], copy=True)),
    )


def _actions(visit: Visit, trigger: Row) -> Child:
    words, reader, path = visit.words, visit.reader, f"{HERE}/{trigger['id']}"
    found: list[Child] = [
        link_button(words["triggers.what_if"], f"{HERE}/rehearse?trigger={trigger['id']}", "quiet"),
        link_button(words["triggers.firings"], f"{HERE}/firings?trigger={trigger['id']}", "quiet"),
    ]
    if not visit.may("triggers:write"):
        return found
    if trigger["owner"] == "platform":
        found.append(post_form(reader, f"{path}/customise", button(words["triggers.customise"], "quiet")))
    else:
        found.append(
            confirm(
                words, reader, f"{path}/delete", words["triggers.delete"], words["triggers.delete_question"]
            )
        )
    does = "disable" if trigger["enabled"] else "enable"
    found.append(
        post_form(reader, f"{path}/{does}", button(words[does], "quiet" if trigger["enabled"] else ""))
    )
    return found


def _form(
    visit: Visit, trigger: Row | None, typed: Typed, templates: Sequence[str], categories: Sequence[str]
) -> Html:
    words = visit.words
    known = el("datalist", [el("option", value=one) for one in templates], id="templates")
    channels = [(one, words.channel(one)) for one in ("auto", *CHANNELS)]
    named = ", ".join(_NAMED)
    first = [
        field_row(
            text_field("name", words["name"], typed.value("name"), error=typed.fault("name"), maxlength=200),
            text_field(
                "event_type",
                words["triggers.event_type"],
                typed.value("event_type"),
                error=typed.fault("event_type"),
                placeholder="reservation.confirmed",
                required=True,
                **_PLAIN,
            ),
        ),
        text_field(
            "condition",
            words["triggers.condition"],
            typed.value("condition"),
            hint=words["triggers.condition_hint"],
            error=typed.fault("condition"),
            placeholder="data.nights >= 2",
            maxlength=4000,
            **_PLAIN,
        ),
        area_field(
            "recipient",
            words["triggers.recipient"],
            typed.value("recipient"),
            rows=2,
            hint=words["triggers.recipient_hint"].replace("{names}", named),
            error=typed.fault("recipient"),
            required=True,
            placeholder="$.data.guest",
            **_PLAIN,
        ),
        field_row(
            join(
                text_field(
                    "template",
                    words["triggers.template"],
                    typed.value("template"),
                    error=typed.fault("template"),
                    list="templates",
                    required=True,
                    **_PLAIN,
                ),
                known,
            ),
            select_field(
                "channel",
                words["triggers.channel"],
                channels,
                typed.value("channel", "auto"),
                error=typed.fault("channel"),
            ),
        ),
        area_field(
            "variables",
            words["triggers.variables"],
            typed.value("variables", "{}"),
            rows=6,
            hint=words["triggers.variables_hint"],
            error=typed.fault("variables"),
            **_PLAIN,
        ),
    ]
    save = el(
        "div",
        check_field("enabled", words["triggers.fires"], checked=typed.ticked("enabled", otherwise=True)),
        button(words["save"]),
    )
    version = hidden("version", typed.value("version", trigger["version"])) if trigger else None
    path = f"{HERE}/{trigger['id']}" if trigger else f"{HERE}/new"
    inside = (version, first, _times(visit, typed), _rest(visit, typed, categories), save)
    title = words["triggers.change"] if trigger else words["triggers.what"]
    return section(title, post_form(visit.reader, path, inside, data_guard=True), id_="form")


def _times(visit: Visit, typed: Typed) -> Html:
    words = visit.words
    directions = [
        (one, words[f"triggers.direction.{one}"]) for one in ("", "before", "after", "other") if one
    ]
    units = [(one, words[f"triggers.units.{one}"]) for one in UNITS]
    return el(
        "fieldset",
        el("legend", words["triggers.when"]),
        field_row(
            text_field(
                "anchor",
                words["triggers.anchor"],
                typed.value("anchor"),
                hint=words["triggers.anchor_hint"],
                error=typed.fault("anchor"),
                placeholder="$.data.starts_at",
                **_PLAIN,
            ),
            select_field(
                "direction",
                words["triggers.direction"],
                [("", words["triggers.direction.none"]), *directions],
                typed.value("direction"),
            ),
            text_field(
                "count",
                words["triggers.count"],
                typed.value("count"),
                kind="number",
                min=1,
                error=typed.fault("offset"),
            ),
            select_field("unit", words["triggers.unit"], units, typed.value("unit", "days")),
            text_field(
                "local_time",
                words["triggers.local_time"],
                typed.value("local_time"),
                kind="time",
                hint=words["triggers.local_hint"],
                error=typed.fault("local_time"),
            ),
        ),
        text_field(
            "duration", words["triggers.duration"], typed.value("duration"), placeholder="-P1DT12H", **_PLAIN
        )
        if typed.value("direction") == "other"
        else None,
    )


def _rest(visit: Visit, typed: Typed, categories: Sequence[str]) -> Html:
    words = visit.words
    of_template = ("", words["triggers.of_template"])
    priorities = [(one, words[f"triggers.priority.{one}"]) for one in ("critical", "high", "normal", "low")]
    names = ("subject", "cancelled_by", "replanned_by", "category", "priority")
    has_some = any(typed.value(name) for name in names[1:])
    return more(
        words["triggers.more"],
        field_row(
            text_field(
                "cancelled_by",
                words["triggers.cancelled_by"],
                typed.value("cancelled_by"),
                hint=words["triggers.types_hint"],
                error=typed.fault("cancelled_by"),
                **_PLAIN,
            ),
            text_field(
                "replanned_by",
                words["triggers.replanned_by"],
                typed.value("replanned_by"),
                hint=words["triggers.types_hint"],
                error=typed.fault("replanned_by"),
                **_PLAIN,
            ),
            text_field(
                "subject",
                words["triggers.subject"],
                typed.value("subject"),
                hint=words["triggers.subject_hint"],
                error=typed.fault("subject"),
                placeholder="$.subject",
                **_PLAIN,
            ),
        ),
        field_row(
            select_field(
                "category",
                words["triggers.category"],
                [of_template, *((one, one) for one in categories)],
                typed.value("category"),
                error=typed.fault("category"),
            ),
            select_field(
                "priority", words["triggers.priority"], [of_template, *priorities], typed.value("priority")
            ),
        ),
        open_=has_some,
    )


def _history(versions: Sequence[Row]) -> Html:
    """What each change has changed, the newest first."""
    rows = []
    for newer, older in pairwise(versions):
        before, after = older["trigger"], newer["trigger"]
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        changes = [
            el("p", el("code", name), ": ", marked(_shown(before.get(name)), _shown(after.get(name))))
            for name in names
        ]
        head = el(
            "p",
            el("strong", str(newer["version"])),
            " ",
            moment(newer["changed_at"]),
            " ",
            el("bdi", newer["changed_by"]),
            class_="soft",
        )
        rows.append(el("li", el("div", head, changes, class_="grow")))
    return el("ul", rows, class_="rows")


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
