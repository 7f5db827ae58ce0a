"""The public pages as HTML: no script, nothing loaded from anywhere, all of it readable on a small telephone."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tidings.contracts.tenants import Channel
from tidings.notify.preference_center.digest_choices import DigestOffer
from tidings.notify.preference_center.digest_fields import digest_fields, digest_note
from tidings.notify.preference_center.frame import HtmlPage, PageBrand, framed, isolated
from tidings.notify.preference_center.strings import PageStrings


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A category that the recipient can say yes or no to, channel by channel, or have gathered."""

    category: str
    #: As the tenant or the platform calls it in the reader's language; None: as we do.
    name: str | None = None
    needs_consent: bool
    #: Each with whether they hear it there now; none where it can't be refused.
    channels: tuple[tuple[Channel, bool], ...]
    #: How it comes; None where it is never gathered.
    digest: DigestOffer | None = None


def ask_page(words: PageStrings, brand: PageBrand, *, channel: str | None, name: str, token: str) -> HtmlPage:
    """Asks whether to unsubscribe; without a channel it is about all of them."""
    body = (
        f"<p>{_of(words.ask, brand)}</p>{_about(words, channel, name)}"
        f'<form method="post" action="/u/{token}"><button>{escape(words.unsubscribe)}</button></form>'
        f"{_link(words.other_choices, f'/p/{token}')}"
    )
    return _page(words, brand, words.unsubscribe, body)


def done_page(
    words: PageStrings, brand: PageBrand, *, channel: str | None, name: str, token: str
) -> HtmlPage:
    """Says that it is done, and how to undo it."""
    body = (
        f'<p role="status">{_of(words.done, brand)}</p>{_about(words, channel, name)}'
        f"<p>{escape(words.changed_mind)}</p>{_link(words.other_choices, f'/p/{token}')}"
    )
    return _page(words, brand, words.done_title, body)


def choices_page(
    words: PageStrings,
    brand: PageBrand,
    offers: Sequence[Offer],
    *,
    version: int,
    token: str,
    timezone: str,
    everything_off: bool = False,
    note: str | None = None,
) -> HtmlPage:
    """Everything that can be chosen; `note` is `saved`, `stale` or `wrong`."""
    told = ""
    if note == "stale":
        told = f'<p role="alert">{escape(words.stale)}</p>'
    elif note == "wrong":
        told = f'<p role="alert">{escape(words.digest_wrong)}</p>'
    elif note == "saved":
        told = f'<p role="status">{escape(words.saved)}</p>'
    if everything_off:
        told += f'<p role="alert">{escape(words.off_note)}</p>'
    off = (
        ""
        if everything_off
        else f'<button class="quiet" name="do" value="all_off">{escape(words.all_off)}</button>'
    )
    gathered = any(offer.digest is not None for offer in offers)
    body = (
        f"{told}<p>{_of(words.choices_intro, brand)}</p>{digest_note(words, timezone) if gathered else ''}"
        f'<form method="post" action="/p/{token}"><input type="hidden" name="version" value="{version}">'
        f"{''.join(_shown(offer) for offer in offers)}"
        f"{''.join(_fieldset(words, offer) for offer in offers)}"
        f'<button name="do" value="save">{escape(words.save)}</button>{off}</form>'
    )
    return _page(words, brand, words.choices_title, body)


def confirm_page(words: PageStrings, brand: PageBrand, *, name: str, token: str) -> HtmlPage:
    """Asks the recipient to confirm that they want to be written to."""
    body = (
        f"<p>{_of(words.confirm_ask, brand)}</p>"
        f'<p class="about"><b>{escape(name)}</b></p>'
        f'<form method="post" action="/c/{token}"><button>{escape(words.confirm)}</button></form>'
    )
    return _page(words, brand, words.confirm_title, body)


def confirmed_page(words: PageStrings, brand: PageBrand, *, choose_at: str | None = None) -> HtmlPage:
    """Says that they will be written to; or, with the token of a page to choose at, that something else is in the way."""
    if choose_at is not None:
        body = (
            f'<p role="alert">{escape(words.confirmed_but_off)}</p>'
            f"{_link(words.other_choices, f'/p/{choose_at}')}"
        )
        return _page(words, brand, words.confirmed_title, body)
    body = f'<p role="status">{_of(words.confirmed, brand)}</p>'
    return _page(words, brand, words.confirmed_title, body)


def plain_page(words: PageStrings, title: str, text: str) -> HtmlPage:
    """Says why there is nothing here."""
    return _page(words, None, title, f"<p>{escape(text)}</p>")


def _shown(offer: Offer) -> str:
    """What was there to be ticked: a box that is not ticked sends nothing, and neither does one that never was."""
    return "".join(
        f'<input type="hidden" name="shown" value="{escape(offer.category)}:{channel}">'
        for channel, _ in offer.channels
    )


def _fieldset(words: PageStrings, offer: Offer) -> str:
    boxes = "".join(
        f'<label><input type="checkbox" name="hear" value="{escape(offer.category)}:{channel}"'
        f"{' checked' if allowed else ''}> {escape(words.channel(channel))}</label>"
        for channel, allowed in offer.channels
    )
    note = f"<p>{escape(words.consent_note)}</p>" if offer.needs_consent else ""
    if not offer.channels:
        note = f"<p>{escape(words.always_note)}</p>"
    often = "" if offer.digest is None else digest_fields(words, offer.category, offer.digest)
    name = escape(offer.name or words.category(offer.category))
    return f"<fieldset><legend>{name}</legend>{note}{boxes}{often}</fieldset>"


def _about(words: PageStrings, channel: str | None, name: str) -> str:
    place = "" if channel is None else escape(words.channel(channel))
    return f'<p class="about"><b>{escape(name)}</b>{place}</p>'


def _link(text: str, path: str) -> str:
    return f'<p class="more"><a href="{path}">{escape(text)}</a></p>'


def _of(text: str, brand: PageBrand) -> str:
    before, _, after = text.partition("{tenant}")
    return f"{escape(before)}{isolated(brand.name)}{escape(after)}"


def _page(words: PageStrings, brand: PageBrand | None, heading: str, body: str) -> HtmlPage:
    return framed(words.language, words.direction, heading, body, brand=brand, help_text=words.help)
