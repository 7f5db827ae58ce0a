"""Pages of the console's own: account, operators, and for whom the platform's people look."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, filled, join
from tidings.backoffice.console.kit.forms import (
    button,
    check_field,
    code_field,
    confirm,
    hidden,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import (
    TONES,
    badge,
    empty,
    moment,
    note,
    section,
    status_badge,
)
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.strings import languages
from tidings.backoffice.console.visits import Visit
from tidings.backoffice.desk import SeenOperator
from tidings.backoffice.operators.model import OperatorRecord
from tidings.backoffice.passkeys.model import MOST_PASSKEYS, Passkey
from tidings.backoffice.properties.access import ALL_PROPERTIES
from tidings.backoffice.sessions.model import OperatorSession
from tidings.contracts.scopes import ROLE_SCOPES
from tidings.kernel.http.answers import Reply


def account_page(
    visit: Visit,
    operator: OperatorRecord,
    sessions: Sequence[OperatorSession],
    passkeys: Sequence[Passkey],
    *,
    needs_proof: bool,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """One's own sessions, codes, password, passkeys and language."""
    words, reader = visit.words, visit.reader
    rows = [_session_row(visit, session) for session in sessions]
    parts: list[Child] = [section(words["sessions"], el("ul", rows, class_="rows"), id_="sessions")]
    if operator.has_second_factor:
        left = words["codes_left"].replace("{count}", str(len(operator.recovery_hashes)))
        new_codes = (code_field(words, id_="codes-code"), button(words["codes_new"]))
        parts.append(
            section(
                words["codes_heading"],
                el("p", left),
                post_form(reader, "/console/account/codes", new_codes),
                id_="codes",
            )
        )
        if operator.password_hash is not None:
            parts.append(section(words["password_heading"], _change_password(visit), id_="password"))
    else:
        parts.append(note(words["no_factor_note"]))
    parts.append(_passkeys(visit, passkeys, needs_proof=needs_proof))
    choice = select_field(
        "language",
        words["language"],
        [(code, known.own_name) for code, known in languages().items()],
        words.language.partition("-")[0],
    )
    chosen = post_form(reader, "/console/language", choice, button(words["save"], "quiet"))
    parts.append(section(words["language"], chosen, id_="language-section"))
    out = post_form(reader, "/console/sign-out", button(words["sign_out"], "quiet"))
    return page(
        words,
        words["account"],
        parts,
        reader=reader,
        here="/console/account",
        actions=out,
        told=told,
        status=status,
    )


def operators_page(
    visit: Visit, found: Sequence[SeenOperator], *, told: Told | None = None, status: int = 200
) -> Reply:
    """The people who work here; admins change them."""
    words, reader = visit.words, visit.reader
    may_write = "operators:write" in visit.caller.scopes
    rows = [_operator_row(visit, one, may_write=may_write) for one in found]
    parts = [el("section", el("ul", rows, class_="rows"), class_="card", aria_label=words["operators"])]
    if may_write:
        invite = (
            text_field("name", words["name"], required=True, maxlength=200, autocomplete="off"),
            text_field("email", words["email"], kind="email", required=True, autocomplete="off", dir="ltr"),
            _role_field(visit, "new"),
            _properties_field(visit, "new", ()),
            None
            if visit.caller.home is None
            else check_field("by_mail", words["invite_by_mail"], checked=True),
            code_field(words),
            button(words["invite"]),
        )
        parts.append(section(words["invite"], post_form(reader, "/console/operators", invite), id_="invite"))
    return page(
        words, words["operators"], parts, reader=reader, here="/console/operators", told=told, status=status
    )


def link_page(visit: Visit, name: str, url: str, until: datetime, *, told: str | None = None) -> Reply:
    """Shows a link, this once; `told`: what became of the mail with it."""
    words = visit.words
    body = el(
        "div",
        el("p", filled(words["link_text"], name=name, until=moment(until, exact=True))),
        el("code", url, class_="secret"),
        el("p", el("a", words["back"], href="/console/operators")),
        class_="card",
    )
    said = (
        None if told is None else Told(text=words.texts[f"told.{told}"], is_error=told.endswith("not_mailed"))
    )
    return page(words, words["link_title"], body, reader=visit.reader, here="/console/operators", told=said)


def acting_for_page(
    visit: Visit, found: Sequence[dict[str, Any]], next_cursor: str | None, cursor: str | None
) -> Reply:
    """For which tenant somebody of the platform looks and acts."""
    words, reader = visit.words, visit.reader

    def choose(tenant: dict[str, Any]) -> Html:
        if tenant["id"] == reader.acting_for:
            return badge(words["acting_for_now"], "info")
        named = (hidden("tenant", tenant["id"]), button(words["acting_for_choose"], "quiet"))
        return post_form(reader, "/console/acting-for", named)

    listed = table(
        words["acting_for"],
        [
            Column[dict[str, Any]](words["name"], lambda one: el("bdi", one["name"])),
            Column[dict[str, Any]](words["status"], lambda one: status_badge(words, "tenant", one["status"])),
            Column[dict[str, Any]]("", choose),
        ],
        found,
        empty=empty(words["acting_for_none"]),
    )
    end = None
    if reader.acting_for:
        end = post_form(
            reader, "/console/acting-for", hidden("tenant", ""), button(words["acting_for_end"], "quiet")
        )
    body = join(
        el("p", words["acting_for_text"]),
        listed,
        pager(words, "/console/acting-for", {"cursor": cursor}, next_cursor),
    )
    return page(words, words["acting_for"], body, reader=reader, actions=end)


def _passkeys(visit: Visit, passkeys: Sequence[Passkey], *, needs_proof: bool) -> Html:
    words, reader = visit.words, visit.reader
    rows = [_passkey_row(visit, passkey) for passkey in passkeys]
    listed = el("ul", rows, class_="rows") if rows else el("p", words["passkeys_none"], class_="soft")
    add: Child = el("p", words["passkeys_most"], class_="soft")
    if len(passkeys) < MOST_PASSKEYS:
        make = button(words["passkey_add"], "quiet script", type="button", data_passkey="register")
        cannot = el("p", words["passkey_script"], class_="soft", data_passkey_cannot=True)
        code = code_field(words, id_="passkey-code") if needs_proof else None
        add = post_form(reader, "/console/account/passkeys", code, make, cannot)
    return section(words["passkeys"], el("p", words["passkeys_text"]), listed, add, id_="passkeys")


def _passkey_row(visit: Visit, passkey: Passkey) -> Html:
    words = visit.words
    kind = words["passkey_this_device"] if passkey.kind == "this_device" else words["passkey_security_key"]
    used = moment(passkey.last_used_at) if passkey.last_used_at else words["passkey_never"]
    line = filled(words["passkey_since"], since=moment(passkey.created_at), used=used)
    tag = join(" ", badge(words["passkey_synced"])) if passkey.is_synced else None
    remove = confirm(
        words,
        visit.reader,
        f"/console/account/passkeys/{passkey.id}/remove",
        words["passkey_remove"],
        words["passkey_remove_question"],
        attested=True,
    )
    return el("li", el("span", kind, tag, el("br"), el("span", line, class_="soft"), class_="grow"), remove)


def _change_password(visit: Visit) -> Html:
    words = visit.words
    return post_form(
        visit.reader,
        "/console/account/password",
        text_field(
            "old",
            words["old_password"],
            kind="password",
            required=True,
            autocomplete="current-password",
            maxlength=200,
        ),
        text_field(
            "new",
            words["new_password"],
            kind="password",
            required=True,
            autocomplete="new-password",
            minlength=12,
            maxlength=200,
        ),
        code_field(words, id_="password-code"),
        button(words["password_heading"]),
    )


def _session_row(visit: Visit, session: OperatorSession) -> Html:
    words = visit.words
    line = filled(
        words["session_since"], since=moment(session.opened_at), until=moment(session.expires_at, exact=True)
    )
    here = session.id == visit.caller.session_id
    tag = join(" ", badge(words["session_here"], "info")) if here else None
    end = post_form(
        visit.reader,
        f"/console/account/sessions/{session.id}/revoke",
        button(words["revoke"], "quiet", aria_describedby=session.id),
    )
    return el("li", el("span", line, tag, class_="grow", id=session.id), end)


def _operator_row(visit: Visit, seen: SeenOperator, *, may_write: bool) -> Html:
    words, operator, person = visit.words, seen.operator, seen.person
    name = el("bdi", person.name) if person else el("span", words["erased"], class_="soft")
    mail = join(" ", el("span", el("bdi", person.email), class_="soft")) if person else None
    own = operator.id == visit.caller.id
    tags = join(
        badge(words.role(operator.role)),
        badge(words.status(operator.status), TONES.get(operator.status, "")),
        badge(words["yourself"], "info") if own else None,
        _seen_properties(visit, operator.properties),
        between=" ",
    )
    details = (
        _details(visit, operator, person.name if person else operator.id) if may_write and not own else None
    )
    return el("li", el("span", name, mail, el("br"), tags, class_="grow"), details)


def _details(visit: Visit, operator: OperatorRecord, name: str) -> Html | None:
    words = visit.words
    if operator.erased_at is not None:
        return None
    actions: list[tuple[str, str, str]] = []
    if operator.status == "invited":
        actions.append(("invite", words["again"], "quiet"))
        if operator.link_hash is not None:
            actions.append(("revoke-invitation", words["withdraw"], "quiet"))
    if operator.status == "locked":
        actions.append(("unlock", words["unlock"], "quiet"))
    if operator.status == "disabled":
        actions.append(("enable", words["enable"], "quiet"))
    else:
        actions.append(("reset-mfa", words["reset"], "quiet"))
        actions.append(("disable", words["disable"], "grave"))
    actions.append(("erase", words["erase"], "grave"))
    buttons = [button(text, kind, name="do", value=do) for do, text, kind in actions]
    fields = (
        hidden("version", str(operator.version)),
        _role_field(visit, operator.id, operator),
        _properties_field(visit, operator.id, operator.properties),
        code_field(words, id_=f"code-{operator.id}"),
        el("div", button(words["save_role"], name="do", value="change"), buttons, class_="actions"),
    )
    summary = el("summary", words["change"], el("span", Html("&nbsp;"), el("bdi", name), class_="soft"))
    return el("details", summary, post_form(visit.reader, f"/console/operators/{operator.id}", fields))


def _role_field(visit: Visit, id_: str, operator: OperatorRecord | None = None) -> Html:
    words, caller = visit.words, visit.caller
    side = "platform." if caller.tenant_id is None else "tenant."
    own = ROLE_SCOPES[caller.role]
    roles = [role for role, scopes in ROLE_SCOPES.items() if role.startswith(side) and scopes <= own]
    chosen = operator.role if operator else roles[-1]
    return select_field(
        "role", words["role"], [(role, words.role(role)) for role in roles], chosen, id_=f"role-{id_}"
    )


def _properties_field(visit: Visit, id_: str, properties: Sequence[str]) -> Html:
    words = visit.words
    return text_field(
        "properties",
        words["properties"],
        " ".join(properties),
        id_=f"properties-{id_}",
        hint=words["properties_hint"],
        autocomplete="off",
        spellcheck="false",
        dir="ltr",
    )


def _seen_properties(visit: Visit, properties: Sequence[str]) -> Html | None:
    words = visit.words
    if not properties:
        return None
    if ALL_PROPERTIES in properties:
        return badge(words["properties_all"])
    listed = join(*(el("bdi", one) for one in properties), between=", ")
    return el("span", words["properties"], ": ", listed, class_="soft")
