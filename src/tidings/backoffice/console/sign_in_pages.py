"""The pages of those who are not signed in yet, as HTML."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape

from tidings.backoffice.console.frame import ConsoleReader, Told, code_field, filled, form, page, text_field
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.credentials import totp
from tidings.backoffice.operators.people import OperatorPerson
from tidings.backoffice.sign_in.join import ChosenPassword
from tidings.kernel.http.answers import Reply


def sign_in_page(
    words: ConsoleStrings, *, email: str = "", told: Told | None = None, status: int = 200
) -> Reply:
    """Asks for mail and password."""
    fields = (
        text_field(
            "email",
            words["email"],
            kind="email",
            value=email,
            required="required",
            autocomplete="username",
            dir="ltr",
            autofocus="autofocus",
        )
        + text_field(
            "password",
            words["password"],
            kind="password",
            required="required",
            autocomplete="current-password",
            maxlength="200",
        )
        + f"<button>{escape(words['go_on'])}</button>"
    )
    body = f'<div class="card">{form(None, "/console/sign-in", fields)}</div>'
    return page(words, words["sign_in"], body, told=told, status=status)


def code_page(
    words: ConsoleStrings,
    ticket: str,
    choices: Sequence[tuple[str, str | None]],
    *,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """Asks for the code; and where the password is that of several, for which of them: their ids and tenants' names."""
    asked = ""
    if len(choices) > 1:
        boxes = "".join(
            f'<label><input type="radio" name="operator" value="{escape(id_)}" required> '
            f"<bdi>{escape(name or words['platform'])}</bdi></label>"
            for id_, name in choices
        )
        asked = f"<fieldset><legend>{escape(words['choose_tenant'])}</legend>{boxes}</fieldset>"
    fields = (
        f'<input type="hidden" name="ticket" value="{escape(ticket)}">{asked}{code_field(words)}'
        f"<button>{escape(words['sign_in'])}</button>"
    )
    body = f'<div class="card">{form(None, "/console/code", fields)}</div>'
    return page(words, words["code_title"], body, told=told, status=status)


def join_page(
    words: ConsoleStrings, person: OperatorPerson, text: str, *, told: Told | None = None, status: int = 200
) -> Reply:
    """Asks somebody who was invited for a password."""
    fields = (
        # For password managers: whose password it is.
        f'<input type="hidden" name="username" value="{escape(person.email)}" autocomplete="username">'
        + text_field(
            "password",
            words["new_password"],
            kind="password",
            required="required",
            minlength="12",
            maxlength="200",
            autocomplete="new-password",
        )
        + f"<button>{escape(words['go_on'])}</button>"
    )
    body = (
        f'<div class="card"><p>{filled(words["join_password"], email=person.email)}</p>'
        f"{form(None, f'/console/join/{text}', fields)}</div>"
    )
    heading = words["join_title"].replace("{name}", person.name)
    return page(words, heading, body, told=told, status=status)


def authenticator_page(
    words: ConsoleStrings, chosen: ChosenPassword, text: str, *, told: Told | None = None, status: int = 200
) -> Reply:
    """Shows what to set up an authenticator with, to who has just chosen the password, and asks for its first code."""
    uri = totp.otpauth_uri(chosen.totp_secret, account=chosen.person.email, issuer="Tidings")
    fields = (
        f'<input type="hidden" name="ticket" value="{escape(chosen.ticket)}">'
        f"{code_field(words, hint='code_first')}<button>{escape(words['go_on'])}</button>"
    )
    body = (
        f'<div class="card"><p>{escape(words["totp_text"])}</p>'
        f'<code class="secret">{escape(totp.spelt(chosen.totp_secret))}</code>'
        f'<p><a href="{escape(uri)}">{escape(words["totp_link"])}</a></p>'
        f"{form(None, f'/console/join/{text}', fields)}</div>"
    )
    return page(words, words["totp_title"], body, told=told, status=status)


def codes_page(
    words: ConsoleStrings,
    codes: Sequence[str],
    *,
    reader: ConsoleReader | None,
    cookies: tuple[str, ...] = (),
) -> Reply:
    """Shows recovery codes, this once."""
    items = "".join(f"<li>{escape(code)}</li>" for code in codes)
    text = b64encode(("\n".join(codes) + "\n").encode()).decode()
    body = (
        f'<div class="card"><p>{escape(words["codes_text"])}</p><ul class="codes">{items}</ul>'
        f'<p><a download="tidings-recovery-codes.txt" href="data:text/plain;base64,{text}">'
        f"{escape(words['codes_download'])}</a></p>"
        f'<p><a class="button" href="/console">{escape(words["codes_kept"])}</a></p></div>'
    )
    return page(words, words["codes_title"], body, reader=reader, cookies=cookies)


def open_page(words: ConsoleStrings, text: str) -> Reply:
    """Asks before a link is used up: programs that look at links open nothing."""
    button = f"<button autofocus>{escape(words['open_title'])}</button>"
    body = (
        f'<div class="card"><p>{escape(words["open_text"])}</p>'
        f"{form(None, f'/console/open/{text}', button)}</div>"
    )
    return page(words, words["open_title"], body)
