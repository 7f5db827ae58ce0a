"""Secrets that were entered: their names and who reads them. A value goes in, and is shown to nobody again."""

from typing import Any

from tidings.backoffice.console.channels.channels_page import HERE
from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    code_field,
    confirm,
    post_form,
    text_field,
)
from tidings.backoffice.console.kit.marks import code, empty, moment, section
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

Row = dict[str, Any]


def secrets_page(
    visit: Visit, found: list[Row], *, told: Told | None = None, typed: Typed | None = None, status: int = 200
) -> Reply:
    """All of them; a form for another one."""
    words, typed = visit.words, typed or Typed()
    may_write = visit.may("router:write")

    def remove(one: Row) -> Html | None:
        if not may_write or one["used_by"]:
            return None
        return confirm(
            words,
            visit.reader,
            f"{HERE}/secrets/{one['name']}/remove",
            words["channels.remove"],
            words["channels.remove_question"],
            attested=True,
        )

    listed = table(
        words["channels.secrets"],
        [
            Column[Row](words["channels.reference"], lambda one: code(one["ref"], copy=True)),
            Column[Row](words["channels.version"], lambda one: one["version"], "num"),
            Column[Row](
                words["channels.read_by"],
                lambda one: (
                    join(*(code(reader) for reader in one["used_by"]), between=", ")
                    if one["used_by"]
                    else words["channels.nobody"]
                ),
                "grow",
            ),
            Column[Row](words["channels.changed"], lambda one: moment(one["updated_at"])),
            Column[Row]("", remove),
        ],
        found,
        empty=empty(words["channels.no_secrets"], words["channels.no_secrets_hint"]),
    )
    parts: list[Child] = [el("section", listed, class_="card", aria_label=words["channels.secrets"])]
    if may_write:
        form = post_form(
            visit.reader,
            f"{HERE}/secrets",
            el("p", words["channels.secret_text"]),
            text_field(
                "name",
                words["name"],
                typed.value("name"),
                required=True,
                maxlength=63,
                error=typed.fault("name"),
                dir="ltr",
                autocomplete="off",
            ),
            area_field(
                "value",
                words["channels.secret_value"],
                hint=words["channels.secret_hint"],
                error=next((text for name, text in typed.errors.items() if name != "name"), None),
                required=True,
                dir="ltr",
                autocomplete="off",
                spellcheck="false",
            ),
            code_field(words, id_="secret-code"),
            button(words["save"]),
        )
        parts.append(section(words["channels.secret_new"], form, id_="new"))
    return page(
        words,
        words["channels.secrets"],
        parts,
        reader=visit.reader,
        here=HERE,
        trail=[(words["channels.title"], HERE)],
        told=told or visit.told(),
        status=status,
    )
