"""Small things that many pages show: a status, a moment, an amount, facts, an empty state."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from tidings.backoffice.console.html import NOTHING, Child, Html, el, join
from tidings.backoffice.console.strings import ConsoleStrings

Tone = Literal["good", "bad", "warn", "info", "off", ""]

#: What a status of anything means for who looks at it: good, bad, to be watched, on its way, over.
TONES: Final[Mapping[str, Tone]] = {
    **dict.fromkeys(("delivered", "active", "completed", "succeeded", "closed", "healthy", "online", "enabled", "sent", "accepted", "approved", "published", "done", "resolved", "read", "ok"), "good"),
    **dict.fromkeys(("failed", "bounced", "open", "dead", "critical", "disabled", "revoked", "offline", "rejected", "refused", "complained", "error"), "bad"),
    **dict.fromkeys(("expired", "suppressed", "half_open", "warning", "paused", "locked", "frozen", "suspended", "late", "partial"), "warn"),
    **dict.fromkeys(("queued", "scheduled", "dispatched", "running", "pending", "invited", "draft", "info", "raised", "acknowledged", "in_progress", "waiting"), "info"),
    **dict.fromkeys(("cancelled", "superseded", "archived", "skipped", "closed_by_hand"), "off"),
}  # fmt: skip


class Tile(NamedTuple):
    """A number that stands for itself."""

    label: str
    value: Child
    note: Child = None
    tone: Tone = ""
    href: str | None = None


def badge(text: str, tone: Tone = "") -> Html:
    """A word in a colour; the word says it, the colour only helps."""
    return el("span", text, class_=f"badge {tone}".strip())


def status_badge(words: ConsoleStrings, area: str, status: str, tone: Tone | None = None) -> Html:
    """The status of something; its word in the catalogue is `<area>.status.<status>`, or the status itself."""
    text = words.get(f"{area}.status.{status}", status.replace("_", " "))
    return badge(text, TONES.get(status, "") if tone is None else tone)


def moment(value: str | datetime | None, *, otherwise: str = "–", exact: bool = False) -> Html:
    """A time in UTC; the script shows it in the reader's zone, and, but for `exact` ones, how long ago it was."""
    if not value:
        return el("span", otherwise, class_="soft")
    at = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    at = at.astimezone(UTC)
    shown = f"{at:%Y-%m-%d %H:%M} UTC"
    return el("time", shown, datetime=f"{at:%Y-%m-%dT%H:%M:%S}Z", dir="ltr", data_exact=exact)


def number(words: ConsoleStrings, value: float | Decimal) -> str:
    """A number as the language writes it."""
    from babel.numbers import format_decimal

    return format_decimal(value, locale=words.language.replace("-", "_"))


def percent(words: ConsoleStrings, share: float) -> str:
    """A share of one as the language writes it."""
    from babel.numbers import format_percent

    pattern = "#,##0.0 %" if 0 < share < 1 and words.direction == "ltr" else None
    return format_percent(share, format=pattern, locale=words.language.replace("-", "_"))


def money(words: ConsoleStrings, micros: int, currency: str) -> str:
    """An amount as the language writes it; small prices keep their digits."""
    return _money(words.language.replace("-", "_"), micros, currency)


@lru_cache(maxsize=2_000)  # it takes a third of a millisecond
def _money(locale: str, micros: int, currency: str) -> str:
    from babel.numbers import format_currency

    amount = Decimal(micros) / 1_000_000
    if amount and abs(amount) < 1:
        return (
            f"{format_currency(amount, currency, locale=locale, format='¤#,##0.####', currency_digits=False)}"
        )
    return format_currency(amount, currency, locale=locale)


def code(text: str | None, *, copy: bool = False) -> Html:
    """An id or a piece of code; `copy` puts a button beside it."""
    if not text:
        return el("span", "–", class_="soft")
    shown = el("code", text, dir="ltr")
    return el("span", shown, class_="copy", data_copy=text) if copy else shown


def facts(*rows: tuple[str, Child]) -> Html:
    """Terms with what is so; those without a value are left out."""
    return el(
        "dl", [join(el("dt", term), el("dd", value)) for term, value in rows if value not in (None, "")]
    )


def facts_across(*rows: tuple[str, Child]) -> Html:
    """The same side by side, for what is read at a glance."""
    pairs = [el("div", el("dt", term), el("dd", value)) for term, value in rows if value not in (None, "")]
    return el("dl", pairs, class_="across")


def section(
    title: str, *body: Child, actions: Child = None, id_: str | None = None, live: int | None = None
) -> Html:
    """A part of a page. `live` seconds: the script asks for it anew while somebody looks."""
    head = el("h2", title, id=f"{id_}-title" if id_ else None)
    if actions:
        head = el("div", head, el("div", actions, class_="actions"), class_="head")
    return el(
        "section",
        head,
        body,
        class_="card",
        id=id_,
        aria_labelledby=f"{id_}-title" if id_ else None,
        data_live=live,
    )


def tiles(*found: Tile) -> Html:
    """Numbers side by side."""
    return el("ul", [el("li", _tile(one), class_=one.tone or None) for one in found], class_="tiles")


def empty(title: str, hint: Child = None, action: Child = None) -> Html:
    """What stands where there is nothing yet: why, and what to do next."""
    return el(
        "div", el("p", title, class_="strong"), el("p", hint) if hint else NOTHING, action, class_="empty"
    )


def tabs(label: str, *found: tuple[str, str, bool]) -> Html:
    """Parts of one thing: text, path, and whether it is the present one."""
    links = [
        el("li", el("a", text, href=path, aria_current="page" if here else None))
        for text, path, here in found
    ]
    return el("nav", el("ul", links), class_="tabs", aria_label=label)


def block(text: str, *, language: str = "") -> Html:
    """Code or JSON as it is."""
    return el("pre", el("code", text), dir="ltr", tabindex="0", data_language=language or None)


def json_block(value: Any) -> Html:
    """A value as JSON, for who wants to see all of it."""
    import json

    return block(json.dumps(value, indent=2, ensure_ascii=False), language="json")


def note(*text: Child, tone: Tone = "warn") -> Html:
    """Something to heed."""
    return el("p", text, class_=f"note {tone}")


def said(text: str | None) -> Html:
    """What the API says in words, which are English whatever the page speaks."""
    return el("span", text, lang="en", dir="auto") if text else NOTHING


def more(summary: str, *body: Child, open_: bool = False) -> Html:
    """What few want to see."""
    return el("details", el("summary", summary), body, open=open_)


def timeline(entries: Sequence[tuple[Child, Child, Tone]]) -> Html:
    """What happened, one after the other: when, what, and whether it was good."""
    items = [
        el("li", el("span", at, class_="at"), el("div", what), class_=tone or None)
        for at, what, tone in entries
    ]
    return el("ol", items, class_="timeline")


def meter(label: str, share: float, text: str, tone: Tone = "") -> Html:
    """How far something is, from 0 to 1."""
    shown = min(max(share, 0.0), 1.0)
    return el(
        "div",
        el("progress", value=f"{shown:.4f}", max="1", aria_label=label, class_=tone or None),
        el("span", text),
        class_="meter",
    )


def _tile(tile: Tile) -> Html:
    inside = join(
        el("span", tile.label, class_="label"),
        el("strong", tile.value),
        el("span", tile.note, class_="soft") if tile.note else NOTHING,
    )
    return el("a", inside, href=tile.href) if tile.href else el("div", inside)
