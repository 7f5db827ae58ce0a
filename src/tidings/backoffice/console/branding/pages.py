"""How a tenant looks, beside a mail that looks so; and its layouts."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    check_field,
    confirm,
    hidden,
    link_button,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import code, empty, moment, note, said, section
from tidings.backoffice.console.kit.tables import Column, address, table
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.templates.paths import version_path
from tidings.backoffice.console.templates.shapes import mail_frame, preview
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE = "/console/branding"
LAYOUTS = "/console/layouts"
Row = Mapping[str, Any]
_PLAIN: Mapping[str, Any] = {"dir": "ltr", "spellcheck": "false", "autocapitalize": "none"}


def branding_page(
    visit: Visit,
    typed: Typed,
    *,
    mails: Sequence[str],
    mail: Row | None,
    shown: Sequence[Row],
    faults: Mapping[str, str] | None = None,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """The form, and a mail of one's own as it would look."""
    words = visit.words
    may_write = visit.may("channels:write")
    colour = typed.value("primary_colour") or "#1f6f5c"
    fields: list[Child] = [
        hidden("version", typed.value("version")),
        hidden("colour_before", typed.value("colour_before") or colour),
        text_field(
            "name",
            words["branding.name"],
            typed.value("name"),
            hint=words["branding.name_hint"],
            error=typed.fault("name"),
            maxlength=200,
        ),
        check_field("has_colour", words["branding.has_colour"], checked=typed.ticked("has_colour")),
        text_field(
            "primary_colour",
            words["branding.colour"],
            colour,
            kind="color",
            error=typed.fault("primary_colour"),
        ),
        text_field(
            "logo_url",
            words["branding.logo"],
            typed.value("logo_url"),
            kind="url",
            hint=words["branding.logo_hint"],
            error=typed.fault("logo_url"),
            placeholder="https://",
            **_PLAIN,
        ),
        text_field(
            "footer",
            words["branding.footer"],
            typed.value("footer"),
            hint=words["branding.footer_hint"],
            error=typed.fault("footer"),
            maxlength=500,
        ),
        text_field(
            "support_url",
            words["branding.support"],
            typed.value("support_url"),
            kind="url",
            error=typed.fault("support_url"),
            placeholder="https://",
            **_PLAIN,
        ),
    ]
    if mails:
        fields.append(
            select_field(
                "mail",
                words["branding.mail"],
                [(one, one) for one in mails],
                typed.value("mail") or (mail["key"] if mail else ""),
            )
        )
    look = button(words["branding.show"], "quiet", name="do", value="show", formaction=f"{HERE}/preview")
    buttons = el("div", button(words["save"]) if may_write else None, look, class_="actions")
    form = post_form(
        visit.reader,
        HERE,
        fields,
        buttons,
        data_preview=f"{HERE}/preview",
        data_targets="look-faults look-left look-right",
        data_guard=True if may_write else None,
        id="branding",
    )
    wrong = [el("li", el("code", name, dir="ltr"), " ", said(text)) for name, text in (faults or {}).items()]
    looks = [
        el("ul", wrong, id="look-faults", class_="faults", hidden=not wrong),
        *(_look(visit, side, mail, one) for side, one in zip(("left", "right"), shown, strict=False)),
    ]
    if mail is None:
        looks = [empty(words["branding.no_mail"], words["branding.no_mail_hint"])]
    body = el(
        "div",
        section(words["branding.about"], form, id_="form"),
        section(words["branding.look"], looks, id_="look"),
        class_="split",
    )
    return page(
        words,
        words["branding.title"],
        body,
        reader=visit.reader,
        here=HERE,
        actions=link_button(words["branding.layouts"], LAYOUTS, "quiet")
        if visit.may("templates:read")
        else None,
        told=told or visit.told(),
        wide=True,
        status=status,
    )


def _look(visit: Visit, side: str, mail: Row | None, shown: Row) -> Html:
    """A mail in one language."""
    id_ = f"look-{side}-html"
    picture = el("div", preview(visit.words, shown, id_=id_), id=f"look-{side}")
    if mail is None:
        return picture
    query = {"locale": shown["locale"], "owner": mail["owner"]}
    saved = address(version_path(mail["key"], "email", mail["active_version"], "/frame"), query)
    title = f"{visit.words['branding.look']}: {shown['locale']}"
    return el(
        "div", el("h3", el("code", shown["locale"])), picture, mail_frame(title, id_, saved), class_="look"
    )


def layouts_page(visit: Visit, found: Row) -> Reply:
    """The texts that templates share."""
    words = visit.words
    new = (
        link_button(words["branding.new_layout"], f"{LAYOUTS}/new") if visit.may("templates:write") else None
    )
    listed = table(
        words["branding.layouts"],
        [
            Column[Row](words["name"], lambda one: code(one["name"])),
            Column[Row](words["branding.changed"], lambda one: moment(one["updated_at"])),
            Column[Row](words["branding.changed_by"], lambda one: el("bdi", one["updated_by"])),
        ],
        found["items"],
        href=lambda one: f"{LAYOUTS}/{one['name']}",
        empty=empty(words["branding.no_layouts"], words["branding.no_layouts_hint"], new),
    )
    return page(
        words,
        words["branding.layouts"],
        listed,
        reader=visit.reader,
        here=HERE,
        trail=[(words["branding.title"], HERE)],
        actions=new,
        told=visit.told(),
    )


def layout_page(
    visit: Visit, layout: Row | None, typed: Typed, *, told: Told | None = None, status: int = 200
) -> Reply:
    """One of them, or a new one."""
    words = visit.words
    may_write = visit.may("templates:write")
    fields: list[Child] = []
    if layout is None:
        fields.append(
            text_field(
                "name",
                words["name"],
                typed.value("name"),
                hint=words["branding.layout_name_hint"],
                error=typed.fault("name"),
                required=True,
                maxlength=64,
                **_PLAIN,
            )
        )
    else:
        fields.append(hidden("version", typed.value("version", layout["version"])))
    text = area_field(
        "text",
        words["branding.text"],
        typed.value("text"),
        rows=24,
        hint=words["branding.text_hint"],
        error=typed.fault("text"),
        required=True,
        readonly=not may_write,
        **_PLAIN,
    )
    form: Html = join(fields, text)
    path = f"{LAYOUTS}/{layout['name']}" if layout else f"{LAYOUTS}/new"
    remove: Child = None
    if may_write:
        form = post_form(visit.reader, path, fields, text, button(words["save"]), data_guard=True)
        if layout is not None:
            remove = confirm(
                words,
                visit.reader,
                f"{path}/delete",
                words["branding.delete"],
                words["branding.delete_question"],
                hide={"version": str(layout["version"])},
            )
    kept = note(words["branding.kept"], tone="info") if layout else None
    return page(
        words,
        layout["name"] if layout else words["branding.new_layout"],
        join(kept, el("section", form, class_="card")),
        reader=visit.reader,
        here=HERE,
        trail=[(words["branding.title"], HERE), (words["branding.layouts"], LAYOUTS)],
        actions=remove,
        told=told or visit.told(),
        status=status,
    )
