"""The pages of those who are not signed in yet, as HTML."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace

from tidings.backoffice.console.frame import ConsoleReader, Told, page
from tidings.backoffice.console.html import Child, Html, el, filled
from tidings.backoffice.console.kit.forms import (
    button,
    code_field,
    hidden,
    link_button,
    passkey_button,
    post_form,
    radio_field,
    text_field,
)
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.credentials import totp
from tidings.backoffice.operators.people import OperatorPerson
from tidings.backoffice.sign_in.join import ChosenPassword
from tidings.kernel.http.answers import Reply


def sign_in_page(
    words: ConsoleStrings,
    *,
    email: str = "",
    provider: str | None = None,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """Asks for mail and password; `provider`: what the house's identity provider is called."""
    mail = text_field(
        "email",
        words["email"],
        email or None,
        kind="email",
        required=True,
        autocomplete="username",
        dir="ltr",
        autofocus=True,
    )
    asked = post_form(
        None,
        "/console/sign-in",
        mail,
        _password(words["password"], "current-password"),
        button(words["go_on"]),
    )
    by_key = el("form", passkey_button(words, "sign_in"), method="post", action="/console/passkey")
    elsewhere = provider and el(
        "p",
        link_button(words["oidc_begin"].replace("{name}", provider), "/console/oidc", "quiet"),
        class_="alone",
    )
    return page(words, words["sign_in"], _card(elsewhere, asked, by_key), told=told, status=status)


def code_page(
    words: ConsoleStrings,
    ticket: str,
    choices: Sequence[tuple[str, str | None]],
    *,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """Asks for the code; and where the password is that of several, for which of them: their ids and tenants' names."""
    asked = None
    if len(choices) > 1:
        named = [(id_, name or words["platform"]) for id_, name in choices]
        asked = radio_field("operator", words["choose_tenant"], named)
    fields = (hidden("ticket", ticket), asked, code_field(words, passkey="sign_in"), button(words["sign_in"]))
    return page(
        words, words["code_title"], _card(post_form(None, "/console/code", fields)), told=told, status=status
    )


def choose_page(words: ConsoleStrings, ticket: str, choices: Sequence[tuple[str, str | None]]) -> Reply:
    """Asks somebody whom the identity provider has named for which tenant they come."""
    named = [(id_, name or words["platform"]) for id_, name in choices]
    fields = (
        hidden("ticket", ticket),
        radio_field("operator", words["choose_tenant"], named),
        button(words["sign_in"]),
    )
    return page(words, words["sign_in"], _card(post_form(None, "/console/oidc/choose", fields)))


def entered_page(words: ConsoleStrings, cookies: Sequence[str]) -> Reply:
    """Leads on by a step of our own: browsers send the session's cookie only where a page of ours leads, not another site's."""
    body = _card(el("p", el("a", words["go_on"], href="/console", class_="button")))
    shown = page(words, words["oidc_entered"], body, cookies=tuple(cookies))
    return replace(shown, headers={**shown.headers, "refresh": "0;url=/console"})


def join_page(
    words: ConsoleStrings, person: OperatorPerson, text: str, *, told: Told | None = None, status: int = 200
) -> Reply:
    """Asks somebody who was invited for a password."""
    # For password managers: whose password it is.
    whose = el("input", type="hidden", name="username", value=person.email, autocomplete="username")
    password = _password(words["new_password"], "new-password", minlength=12)
    asked = post_form(None, f"/console/join/{text}", whose, password, button(words["go_on"]))
    body = _card(el("p", filled(words["join_password"], email=person.email)), asked)
    return page(words, words["join_title"].replace("{name}", person.name), body, told=told, status=status)


def authenticator_page(
    words: ConsoleStrings, chosen: ChosenPassword, text: str, *, told: Told | None = None, status: int = 200
) -> Reply:
    """Shows what to set up an authenticator with, to who has just chosen the password, and asks for its first code."""
    uri = totp.otpauth_uri(chosen.totp_secret, account=chosen.person.email, issuer="Tidings")
    code = code_field(words, hint="code_first", passkey=None)
    body = _card(
        el("p", words["totp_text"]),
        el("code", totp.spelt(chosen.totp_secret), class_="secret"),
        el("p", el("a", words["totp_link"], href=uri)),
        post_form(
            None, f"/console/join/{text}", hidden("ticket", chosen.ticket), code, button(words["go_on"])
        ),
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
    text = b64encode(("\n".join(codes) + "\n").encode()).decode()
    kept = el(
        "a",
        words["codes_download"],
        download="tidings-recovery-codes.txt",
        href=f"data:text/plain;base64,{text}",
    )
    body = _card(
        el("p", words["codes_text"]),
        el("ul", [el("li", code) for code in codes], class_="codes"),
        el("p", kept),
        el("p", el("a", words["codes_kept"], class_="button", href="/console")),
    )
    return page(words, words["codes_title"], body, reader=reader, cookies=cookies)


def open_page(words: ConsoleStrings, text: str) -> Reply:
    """Asks before a link is used up: programs that look at links open nothing."""
    asked = post_form(None, f"/console/open/{text}", button(words["open_title"], autofocus=True))
    return page(words, words["open_title"], _card(el("p", words["open_text"]), asked))


def _password(label: str, autocomplete: str, minlength: int | None = None) -> Html:
    return text_field(
        "password",
        label,
        kind="password",
        required=True,
        autocomplete=autocomplete,
        minlength=minlength,
        maxlength=200,
    )


def _card(*children: Child) -> Html:
    return el("div", children, class_="card")
