"""The frame of every page of the console: its head, its policy, its navigation. Later pages are set in it too."""

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from string import Template
from typing import Final

from tidings.backoffice.console.strings import ConsoleStrings
from tidings.kernel.http.answers import Reply

STYLE: Final = Path(__file__).with_name("console.css").read_text(encoding="utf-8")
#: Our own style and forms, and nothing else: no script, no frame, nothing from elsewhere.
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex",
}
_PAGE: Final = Template(
    """<!doctype html>
<html lang="$language" dir="$direction">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<link rel="stylesheet" href="/console/console.css">
</head>
<body>
<a class="skip" href="#content">$skip</a>
<header class="top">$top</header>
<main id="content" class="$width">
$told<h1>$heading</h1>
$body
</main>
</body>
</html>
"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleReader:
    """Who a page is for, once they are signed in."""

    name: str
    #: What their tenant is called; None: they are the platform's.
    tenant_name: str | None
    role: str
    may_see_operators: bool
    csrf_token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a page says about what was just done."""

    text: str
    is_error: bool = False


def page(
    words: ConsoleStrings,
    heading: str,
    body: str,
    *,
    reader: ConsoleReader | None = None,
    here: str = "",
    told: Told | None = None,
    status: int = 200,
    cookies: tuple[str, ...] = (),
) -> Reply:
    """A whole page; `body` is HTML, `here` the path that the navigation marks."""
    said = ""
    if told is not None:
        said = f'<p role="{"alert" if told.is_error else "status"}">{escape(told.text)}</p>\n'
    html = _PAGE.substitute(
        language=words.language,
        direction=words.direction,
        title=f"{escape(heading)} · {escape(words['app'])}",
        skip=escape(words["skip"]),
        top=_top(words, reader, here),
        width="" if reader is not None else "narrow",
        told=said,
        heading=escape(heading),
        body=body,
    )
    return Reply(body=html.encode(), media_type="text/html", status=status, headers=_HEADERS, cookies=cookies)


def redirect(path: str, *, cookies: tuple[str, ...] = ()) -> Reply:
    """Leads to another page of ours."""
    return Reply(media_type="text/html", status=303, headers={**_HEADERS, "location": path}, cookies=cookies)


def named(name: str) -> str:
    """A name amid a text, so that it reads rightly in either direction."""
    return f"<bdi>{escape(name)}</bdi>"


def filled(text: str, **values: str) -> str:
    """A text of ours with names in it, as HTML."""
    shown = escape(text)
    for key, value in values.items():
        shown = shown.replace(f"{{{key}}}", named(value))
    return shown


def form(reader: ConsoleReader | None, action: str, fields: str, *, css: str = "") -> str:
    """A form that proves that this page sent it."""
    proof = "" if reader is None else f'<input type="hidden" name="csrf" value="{escape(reader.csrf_token)}">'
    classes = f' class="{css}"' if css else ""
    return f'<form method="post" action="{escape(action)}"{classes}>{proof}{fields}</form>'


def text_field(
    name: str, label: str, *, kind: str = "text", id_: str | None = None, **attributes: str
) -> str:
    """A labelled field."""
    given = {"type": kind, "name": name, "id": id_ or name, **attributes}
    rest = "".join(f' {key.replace("_", "-")}="{escape(value)}"' for key, value in given.items() if value)
    return f'<label for="{escape(given["id"])}">{escape(label)}</label><input{rest}>'


def code_field(words: ConsoleStrings, *, id_: str = "code", hint: str = "code_note") -> str:
    """The field for a code of the authenticator, or a recovery code."""
    field_ = text_field(
        "code",
        words["code"],
        id_=id_,
        required="required",
        autocomplete="one-time-code",
        maxlength="40",
        spellcheck="false",
        autocapitalize="none",
        dir="ltr",
        aria_describedby=f"{id_}-hint",
    )
    return f'{field_}<p class="hint" id="{id_}-hint">{escape(words[hint])}</p>'


def _top(words: ConsoleStrings, reader: ConsoleReader | None, here: str) -> str:
    brand = f'<a class="brand" href="/console">{escape(words["app"])}</a>'
    if reader is None:
        return brand
    places = [("/console", words["home"]), ("/console/account", words["account"])]
    if reader.may_see_operators:
        places.append(("/console/operators", words["operators"]))
    links = "".join(
        f'<a href="{path}"{" aria-current=page" if path == here else ""}>{escape(text)}</a>'
        for path, text in places
    )
    out = form(reader, "/console/sign-out", f'<button class="quiet">{escape(words["sign_out"])}</button>')
    tenant = f'<span class="tenant">{named(reader.tenant_name or words["platform"])}</span>'
    return f'{brand}{tenant}<nav aria-label="{escape(words["menu"])}">{links}{out}</nav>'
