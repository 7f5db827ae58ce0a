"""The pages of those who are signed in, as HTML: home, account, operators."""

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from tidings.backoffice.console.frame import Told, code_field, filled, form, named, page, text_field
from tidings.backoffice.console.visits import Visit
from tidings.backoffice.desk import SeenOperator
from tidings.backoffice.operators.model import OperatorRecord
from tidings.backoffice.sessions.model import OperatorSession
from tidings.contracts.scopes import ROLE_SCOPES
from tidings.kernel.http.answers import Reply


def home_page(visit: Visit) -> Reply:
    """Greets, and says where one is."""
    words, reader = visit.words, visit.reader
    links = [("/console/account", words["account"])]
    if reader.may_see_operators:
        links.append(("/console/operators", words["operators"]))
    body = (
        f'<div class="card"><dl><dt>{escape(words["tenant"])}</dt><dd>{named(reader.tenant_name or words["platform"])}</dd>'
        f"<dt>{escape(words['role'])}</dt><dd>{escape(words.role(reader.role))}</dd></dl>"
        f'<ul class="rows">{"".join(f"<li><a href={path}>{escape(text)}</a></li>" for path, text in links)}</ul></div>'
    )
    heading = words["greeting"].replace("{name}", reader.name)
    return page(words, heading, body, reader=reader, here="/console")


def account_page(
    visit: Visit,
    operator: OperatorRecord,
    sessions: Sequence[OperatorSession],
    *,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """One's own sessions, codes and password."""
    words, reader = visit.words, visit.reader
    rows = "".join(_session_row(visit, session) for session in sessions)
    body = (
        f'<section class="card" aria-labelledby="sessions"><h2 id="sessions">{escape(words["sessions"])}</h2>'
        f'<ul class="rows">{rows}</ul></section>'
    )
    if operator.has_second_factor:
        left = words["codes_left"].replace("{count}", str(len(operator.recovery_hashes)))
        new_codes = code_field(words, id_="codes-code") + f"<button>{escape(words['codes_new'])}</button>"
        body += (
            f'<section class="card" aria-labelledby="codes"><h2 id="codes">{escape(words["codes_heading"])}</h2>'
            f"<p>{escape(left)}</p>{form(reader, '/console/account/codes', new_codes)}</section>"
        )
        change = (
            text_field(
                "old",
                words["old_password"],
                kind="password",
                required="required",
                autocomplete="current-password",
                maxlength="200",
            )
            + text_field(
                "new",
                words["new_password"],
                kind="password",
                required="required",
                autocomplete="new-password",
                minlength="12",
                maxlength="200",
            )
            + code_field(words, id_="password-code")
            + f"<button>{escape(words['password_heading'])}</button>"
        )
        body += (
            f'<section class="card" aria-labelledby="password"><h2 id="password">{escape(words["password_heading"])}</h2>'
            f"{form(reader, '/console/account/password', change)}</section>"
        )
    else:
        body += f'<p class="note">{escape(words["no_factor_note"])}</p>'
    return page(
        words, words["account"], body, reader=reader, here="/console/account", told=told, status=status
    )


def operators_page(
    visit: Visit, found: Sequence[SeenOperator], *, told: Told | None = None, status: int = 200
) -> Reply:
    """The people who work here; admins change them."""
    words, reader = visit.words, visit.reader
    may_write = "operators:write" in visit.caller.scopes
    rows = "".join(_operator_row(visit, one, may_write=may_write) for one in found)
    body = f'<section class="card" aria-label="{escape(words["operators"])}"><ul class="rows">{rows}</ul></section>'
    if may_write:
        invite = (
            text_field("name", words["name"], required="required", maxlength="200", autocomplete="off")
            + text_field(
                "email", words["email"], kind="email", required="required", autocomplete="off", dir="ltr"
            )
            + _rights_fields(visit, "new")
            + code_field(words)
            + f"<button>{escape(words['invite'])}</button>"
        )
        body += (
            f'<section class="card" aria-labelledby="invite"><h2 id="invite">{escape(words["invite"])}</h2>'
            f"{form(reader, '/console/operators', invite)}</section>"
        )
    return page(
        words, words["operators"], body, reader=reader, here="/console/operators", told=told, status=status
    )


def link_page(visit: Visit, name: str, url: str, until: datetime) -> Reply:
    """Shows a link, this once."""
    words = visit.words
    body = (
        f'<div class="card"><p>{filled(words["link_text"], name=name, until=_moment(until))}</p>'
        f'<code class="secret">{escape(url)}</code>'
        f'<p><a href="/console/operators">{escape(words["back"])}</a></p></div>'
    )
    return page(words, words["link_title"], body, reader=visit.reader, here="/console/operators")


def _session_row(visit: Visit, session: OperatorSession) -> str:
    words = visit.words
    line = filled(words["session_since"], since=_moment(session.opened_at), until=_moment(session.expires_at))
    here = session.id == visit.caller.session_id
    tag = f' <span class="tag">{escape(words["session_here"])}</span>' if here else ""
    button = f'<button class="quiet" aria-describedby="{session.id}">{escape(words["revoke"])}</button>'
    end = form(visit.reader, f"/console/account/sessions/{session.id}/revoke", button)
    return f'<li><span class="grow" id="{session.id}">{line}{tag}</span>{end}</li>'


def _operator_row(visit: Visit, seen: SeenOperator, *, may_write: bool) -> str:
    words, operator, person = visit.words, seen.operator, seen.person
    name = named(person.name) if person else f'<span class="soft">{escape(words["erased"])}</span>'
    mail = f' <span class="soft"><bdi>{escape(person.email)}</bdi></span>' if person else ""
    own = operator.id == visit.caller.id
    tags = "".join(
        f' <span class="tag">{escape(text)}</span>'
        for text in (
            words.role(operator.role),
            words.status(operator.status),
            *([words["yourself"]] if own else []),
        )
    )
    details = (
        _details(visit, operator, person.name if person else operator.id) if may_write and not own else ""
    )
    return f'<li><span class="grow">{name}{mail}<br>{tags}</span>{details}</li>'


def _details(visit: Visit, operator: OperatorRecord, name: str) -> str:
    words = visit.words
    if operator.erased_at is not None:
        return ""
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
    buttons = "".join(
        f'<button class="{css}" name="do" value="{do}">{escape(text)}</button>' for do, text, css in actions
    )
    fields = (
        _rights_fields(visit, operator.id, operator)
        + code_field(words, id_=f"code-{operator.id}")
        + f'<div class="actions"><button name="do" value="change">{escape(words["save"])}</button>{buttons}</div>'
    )
    summary = f'<summary>{escape(words["change"])}<span class="soft">&nbsp;{named(name)}</span></summary>'
    version = f'<input type="hidden" name="version" value="{operator.version}">'
    return f"<details>{summary}{form(visit.reader, f'/console/operators/{operator.id}', version + fields)}</details>"


def _rights_fields(visit: Visit, id_: str, operator: OperatorRecord | None = None) -> str:
    words, caller = visit.words, visit.caller
    side = "platform." if caller.tenant_id is None else "tenant."
    own = ROLE_SCOPES[caller.role]
    roles = [role for role, scopes in ROLE_SCOPES.items() if role.startswith(side) and scopes <= own]
    chosen = operator.role if operator else roles[-1]
    options = "".join(
        f'<option value="{role}"{" selected" if role == chosen else ""}>{escape(words.role(role))}</option>'
        for role in roles
    )
    return f'<label for="role-{id_}">{escape(words["role"])}</label><select id="role-{id_}" name="role">{options}</select>'


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"
