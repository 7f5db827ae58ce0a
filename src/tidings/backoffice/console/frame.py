"""The frame of every page of the console: head, policy, navigation, and what it says about what was just done."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from tidings.backoffice.console.html import NOTHING, Child, Html, el, join
from tidings.backoffice.console.kit.forms import button, post_form
from tidings.backoffice.console.kit.marks import badge
from tidings.backoffice.console.places import GROUPS, Place, places_for
from tidings.backoffice.console.static import versioned
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.kernel.http.answers import Reply

#: Our own style and scripts, and nothing else: no code in a page, and nothing from elsewhere.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex",
}
THEMES: Final = ("light", "dark")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleReader:
    """Who a page is for, once they are signed in."""

    name: str
    #: What their tenant is called; None: they are the platform's.
    tenant_name: str | None
    role: str
    scopes: Collection[str]
    is_platform: bool
    csrf_token: str = field(repr=False)
    #: The tenant that somebody of the platform looks at.
    acting_for: str | None = None
    #: How many alerts are open that they may see.
    open_alerts: int = 0
    #: The theme that they have chosen; None: that of their system.
    theme: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a page says about what was just done."""

    text: str
    is_error: bool = False
    #: What follows the text, such as a button that undoes it.
    action: Html = NOTHING


def page(
    words: ConsoleStrings,
    heading: str,
    body: Child,
    *,
    reader: ConsoleReader | None = None,
    here: str = "",
    trail: Sequence[tuple[str, str]] = (),
    actions: Child = None,
    told: Told | None = None,
    wide: bool = False,
    status: int = 200,
    cookies: tuple[str, ...] = (),
) -> Reply:
    """A whole page.

    `here` is the path of the place that the navigation marks, `trail` what is above this page (text and path), `actions`
    what stands beside the heading. `wide` pages use all of the window: boards and editors.
    """
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", f"{heading} · {words['app']}"),
        el("link", rel="icon", href="data:,"),
        el("link", rel="stylesheet", href=versioned("console.css")),
        el("script", src=versioned("console.js"), defer=True),
    )
    main = el(
        "main",
        _trail(words, trail),
        el("div", el("h1", heading), actions and el("div", actions, class_="actions"), class_="head"),
        _said(told),
        body,
        id="content",
        class_="narrow" if reader is None else "wide" if wide else None,
    )
    inside = (
        [el("header", _brand(words), class_="top"), main]
        if reader is None
        else [_top(words, reader), _nav(words, reader, here), main, _palette(words, reader)]
    )
    html = el(
        "html",
        head,
        el("body", el("a", words["skip"], href="#content", class_="skip"), *inside),
        lang=words.language,
        dir=words.direction,
        data_theme=reader.theme if reader is not None and reader.theme in THEMES else None,
    )
    body_ = f"<!doctype html>\n{html}\n".encode()
    return Reply(body=body_, media_type="text/html", status=status, headers=HEADERS, cookies=cookies)


def redirect(path: str, *, cookies: tuple[str, ...] = ()) -> Reply:
    """Leads to another page of ours."""
    return Reply(media_type="text/html", status=303, headers={**HEADERS, "location": path}, cookies=cookies)


def _said(told: Told | None) -> Html:
    if told is None:
        return NOTHING
    return el("div", el("span", told.text), told.action, role="alert" if told.is_error else "status")


def _trail(words: ConsoleStrings, trail: Sequence[tuple[str, str]]) -> Html:
    if not trail:
        return NOTHING
    links = [el("li", el("a", text, href=path)) for text, path in trail]
    return el("nav", el("ol", links), class_="trail", aria_label=words["trail"])


def _brand(words: ConsoleStrings) -> Html:
    return el("a", words["app"], class_="brand", href="/console")


def _top(words: ConsoleStrings, reader: ConsoleReader) -> Html:
    tenant = el("bdi", reader.tenant_name or words["platform"])
    shown: Html = el("span", tenant, class_="tenant")
    if reader.is_platform:
        shown = el("a", tenant, class_="tenant", href="/console/acting-for", title=words["acting_for_change"])
    find = NOTHING
    if "notifications:read" in reader.scopes:
        field_ = el(
            "input",
            type="search",
            name="q",
            placeholder=words["find_hint"],
            aria_label=words["find"],
            data_key="/",
            autocomplete="off",
            spellcheck="false",
            maxlength=320,
        )
        # By POST: what is typed may be an address, and what stands in a URL ends up in logs.
        find = post_form(reader, "/console/find", field_, class_="find", role="search")
    switch = button(
        "◐", "icon", name="theme", value=_other(reader), aria_label=words["theme"], title=words["theme"]
    )
    theme = post_form(reader, "/console/theme", switch)
    keys = el(
        "button",
        el("span", words["palette"]),
        el("kbd", "Ctrl K"),
        type="button",
        class_="quiet script",
        data_palette=True,
    )
    out = post_form(reader, "/console/sign-out", button(words["sign_out"], "plain"), class_="out")
    me = el("a", el("bdi", reader.name), href="/console/account", class_="me")
    waiting = badge(str(min(reader.open_alerts, 99)), "bad") if reader.open_alerts else None
    menu = el("a", words["open_menu"], waiting, href="#menu", class_="burger")
    return el("header", menu, _brand(words), shown, find, keys, theme, me, out, class_="top")


def _other(reader: ConsoleReader) -> str:
    """The theme after the present one: that of the system, light, dark."""
    return {None: "light", "light": "dark"}.get(reader.theme, "system")


def _nav(words: ConsoleStrings, reader: ConsoleReader, here: str) -> Html:
    places = places_for(reader.scopes, is_platform=reader.is_platform)
    groups = []
    for group in GROUPS:
        links = [_link(words, reader, place, here) for place in places if place.group == group]
        if links:
            name = f"nav-{group}" if group else None
            heading = el("h2", words[f"group.{group}"], id=name) if group else None
            groups.append(join(heading, el("ul", links, aria_labelledby=name)))
    close = el("a", words["close"], href="#content", class_="close")
    return el("nav", close, groups, id="menu", class_="side", aria_label=words["menu"])


def open_alerts(words: ConsoleStrings, reader: ConsoleReader) -> Html:
    """The number beside the link to the alerts; the script asks for it anew."""
    shown: Child = NOTHING
    if reader.open_alerts:
        known = words["open_alerts"].replace("{count}", str(reader.open_alerts))
        shown = join(
            el("span", badge(str(min(reader.open_alerts, 99)), "bad"), aria_hidden="true"),
            el("span", f" ({known})", class_="unseen"),
        )
    return el(
        "span", shown, id="open-alerts", class_="count", data_live=30, data_from="/console/alerts/count"
    )


def _link(words: ConsoleStrings, reader: ConsoleReader, place: Place, here: str) -> Html:
    current = "page" if place.path == here else None
    return el(
        "li",
        el(
            "a",
            words[f"place.{place.key}"],
            open_alerts(words, reader) if place.key == "alerts" else None,
            href=place.path,
            aria_current=current,
            data_keys=place.keys or None,
        ),
    )


def _palette(words: ConsoleStrings, reader: ConsoleReader) -> Html:
    """Ctrl-K: every place by its name. It needs the script, and nothing is lost without it."""
    places = [
        {"text": words[f"place.{place.key}"], "path": place.path, "keys": place.keys}
        for place in places_for(reader.scopes, is_platform=reader.is_platform)
    ]
    field_ = el(
        "input",
        type="text",
        role="combobox",
        aria_expanded="true",
        aria_controls="palette-list",
        aria_label=words["palette_hint"],
        placeholder=words["palette_hint"],
        autocomplete="off",
        spellcheck="false",
    )
    listed = el("ul", id="palette-list", role="listbox", aria_label=words["palette"])
    hints = el(
        "p",
        join(
            el("kbd", "↑ ↓"),
            words["keys_choose"],
            el("kbd", "Enter"),
            words["keys_open"],
            el("kbd", "/"),
            words["find"],
            el("kbd", "j k"),
            words["keys_rows"],
            between=" ",
        ),
        class_="hint",
    )
    known = msgspec.json.encode({"places": places, "find": words["palette_find"]}).decode()
    data = el("script", Html(known.replace("<", "\\u003c")), type="application/json", id="palette-data")
    return join(el("dialog", field_, listed, hints, id="palette", aria_label=words["palette"]), data)
