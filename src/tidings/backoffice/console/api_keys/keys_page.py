"""The API keys: who made them, what they may do, when they were used; a form for another one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    code_field,
    confirm,
    field_row,
    link_button,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import badge, code, empty, moment, section, status_badge
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.visits import Visit
from tidings.contracts.scopes import ROLE_SCOPES
from tidings.kernel.http.answers import Reply

HERE: Final = "/console/api-keys"
ENVIRONMENTS: Final = ("live", "test")
_OVERLAPS: Final = (0, 3600, 86_400, 604_800)

Row = dict[str, Any]


def keys_page(
    visit: Visit, found: Row, *, told: Told | None = None, typed: Typed | None = None, status: int = 200
) -> Reply:
    """All keys, the newest first."""
    words = visit.words
    may_write = visit.may("api_keys:write")

    def named(one: Row) -> Html:
        test = badge(words["api_keys.environment.test"], "warn") if one["environment"] == "test" else None
        return join(el("bdi", one["name"]), test, el("br"), code(one["id"]), between=" ")

    listed = table(
        words["api_keys.title"],
        [
            Column[Row](words["name"], named),
            Column[Row](words["status"], lambda one: _standing(visit, one)),
            Column[Row](words["role"], lambda one: _rights(visit, one)),
            Column[Row](
                words["api_keys.last_used"],
                lambda one: moment(one["last_used_at"], otherwise=words["api_keys.never"]),
            ),
            Column[Row](
                words["api_keys.ends"],
                lambda one: moment(
                    one["overlap_ends_at"] or one["expires_at"], otherwise=words["api_keys.open_end"]
                ),
            ),
            Column[Row](
                words["api_keys.made_by"],
                lambda one: join(code(one["created_by"]), el("br"), moment(one["created_at"])),
            ),
            Column[Row]("", lambda one: _verbs(visit, one) if may_write else None),
        ],
        found["items"],
        empty=empty(words["api_keys.none"], words["api_keys.none_hint"]),
    )
    parts: list[Child] = [
        el("section", listed, class_="card", aria_label=words["api_keys.title"]),
        pager(words, HERE, {"cursor": visit.query.get("cursor")}, found.get("next_cursor")),
    ]
    if may_write:
        parts.append(_new(visit, typed or Typed()))
    return page(
        words,
        words["api_keys.title"],
        parts,
        reader=visit.reader,
        here=HERE,
        told=told or visit.told(),
        status=status,
    )


def _standing(visit: Visit, one: Row) -> Html:
    tone = {"active": "good", "revoked": "bad", "expired": "off"}.get(one["state"], "warn")
    return status_badge(visit.words, "api_keys", one["state"], tone)  # type: ignore[arg-type]


def _rights(visit: Visit, one: Row) -> Html:
    words = visit.words
    count = words["api_keys.scopes"].replace("{count}", str(len(one["scopes"])))
    scopes = el(
        "details", el("summary", count), el("span", ", ".join(one["scopes"]), dir="ltr", class_="soft")
    )
    return join(words.role(one["role"]), scopes)


def _verbs(visit: Visit, one: Row) -> Html | None:
    words = visit.words
    if one["state"] in ("revoked", "expired"):
        return None
    path = f"{HERE}/{one['id']}"
    overlaps = [(str(seconds), words[f"api_keys.overlap.{seconds}"]) for seconds in _OVERLAPS]
    rotate = None
    if not one["rotated_to"]:
        rotate = confirm(
            words,
            visit.reader,
            f"{path}/rotate",
            words["api_keys.rotate"],
            words["api_keys.rotate_question"],
            fields=select_field(
                "overlap", words["api_keys.overlap"], overlaps, "86400", id_=f"overlap-{one['id']}"
            ),
            attested=True,
            kind="quiet",
        )
    revoke = confirm(
        words, visit.reader, f"{path}/revoke", words["api_keys.revoke"], words["api_keys.revoke_question"]
    )
    return el("div", rotate, revoke, class_="actions")


def roles_of(visit: Visit) -> list[str]:
    """Roles that whoever looks may give: of their side, and with no right that they lack."""
    own = ROLE_SCOPES[visit.caller.role]
    side = "platform." if visit.tenant_is_missing else "tenant."
    return [role for role, scopes in ROLE_SCOPES.items() if role.startswith(side) and scopes <= own]


def _new(visit: Visit, typed: Typed) -> Html:
    words = visit.words
    environments = [(one, words[f"api_keys.environment.{one}"]) for one in ENVIRONMENTS]
    form = post_form(
        visit.reader,
        HERE,
        field_row(
            text_field(
                "name",
                words["name"],
                typed.value("name"),
                required=True,
                maxlength=200,
                error=typed.fault("name"),
                autocomplete="off",
            ),
            select_field(
                "role",
                words["role"],
                [(role, words.role(role)) for role in roles_of(visit)],
                typed.value("role"),
                error=typed.fault("role"),
            ),
            select_field(
                "environment", words["api_keys.environment"], environments, typed.value("environment")
            ),
        ),
        field_row(
            text_field(
                "expires_at",
                words["api_keys.expires"],
                typed.value("expires_at"),
                kind="datetime-local",
                hint=words["api_keys.expires_hint"],
                error=typed.fault("expires_at"),
            ),
            area_field(
                "scopes",
                words["api_keys.scopes_field"],
                typed.value("scopes"),
                rows=2,
                hint=words["api_keys.scopes_hint"],
                error=next((text for name, text in typed.errors.items() if name.startswith("scopes")), None),
                dir="ltr",
                placeholder="notifications:write recipients:read",
            ),
        ),
        code_field(words, id_="key-code"),
        button(words["api_keys.make"]),
    )
    return section(words["api_keys.new"], form, id_="new")


def key_once_page(visit: Visit, made: Mapping[str, Any]) -> Reply:
    """A key, this once."""
    words, key = visit.words, made["key"]
    ends = key["expires_at"]
    body = el(
        "div",
        el("p", words["api_keys.once"]),
        el("code", made["api_key"], class_="secret"),
        el("p", words["api_keys.ends"], " ", moment(datetime.fromisoformat(ends), exact=True))
        if ends
        else None,
        link_button(words["api_keys.kept"], HERE, "quiet"),
        class_="card",
    )
    return page(
        words, key["name"], body, reader=visit.reader, here=HERE, trail=[(words["api_keys.title"], HERE)]
    )
