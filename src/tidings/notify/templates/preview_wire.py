"""Previews as JSON: what a request wants to see, and what it sees."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from tidings.contracts.prices import MessageCost
from tidings.contracts.sms_segments import measure, plainer, transliterated
from tidings.contracts.templates import TemplateFinding
from tidings.contracts.tenants import Channel, Locale
from tidings.kernel.mapping import attributes, by_name
from tidings.notify.branding.model import TenantBranding
from tidings.notify.templates.preview import Preview, PreviewRequest, Width
from tidings.notify.templates.wire import ChangeVersion

#: The widths of a mail in a window and on a phone.
PIXELS: dict[Width, int] = {"desktop": 640, "mobile": 360}


class PreviewVersion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be shown; everything can be left out."""

    #: The recipient's, or else the template's default, where it is left out.
    locale: Locale | None = None
    #: The name of a sample; the first where both are left out.
    sample: str | None = None
    #: Instead of a sample.
    variables: dict[str, Any] | None = None
    #: Somebody whose name, language and time zone are used; needs recipients:read.
    recipient_id: str | None = None
    #: How wide the frame is that an HTML answer shows it in.
    width: Width = "desktop"
    #: What is not saved yet, as `PATCH` would take it; nothing is written.
    changes: ChangeVersion | None = None
    #: As if you looked so; nothing is written. A channel's own look stays over it.
    branding: TenantBranding | None = None

    def spec(self) -> PreviewRequest:
        """The same for the inside."""
        return PreviewRequest(locale=self.locale, sample=self.sample, variables=self.variables)


class Replacement(Struct, frozen=True, kw_only=True):
    """What transliteration would change."""

    character: str
    #: Empty where it is left out.
    replacement: str


class SmsPreview(Struct, frozen=True, kw_only=True):
    """How the text travels."""

    encoding: Literal["GSM-7", "UCS-2"]
    characters: int
    segments: int
    #: How many more plain characters fit into the last segment.
    characters_left: int
    #: What plainer characters would change; empty where there is nothing to gain.
    transliteration: tuple[Replacement, ...]
    #: With those changes made.
    segments_transliterated: int
    encoding_transliterated: Literal["GSM-7", "UCS-2"]
    #: In millionths of the currency, for one message; null where the channel has no price.
    cost_micros: int | None = None
    currency: str | None = None

    @classmethod
    def of(cls, text: str, cost: MessageCost | None = None) -> "SmsPreview":
        """The measures of a text."""
        plain, changed = measure(text), measure(transliterated(text))
        return cls(
            encoding=plain.encoding,
            characters=plain.characters,
            segments=plain.segments,
            characters_left=plain.left,
            transliteration=tuple(
                Replacement(character=character, replacement=replacement)
                for character, replacement in plainer(text).items()
            ),
            segments_transliterated=changed.segments,
            encoding_transliterated=changed.encoding,
            cost_micros=cost.micros if cost else None,
            currency=cost.currency if cost else None,
        )


class PreviewView(Struct, frozen=True, kw_only=True):
    """What somebody would get."""

    channel: Channel
    subject: str | None
    preheader: str | None
    html: str | None
    text: str | None
    direction: Literal["ltr", "rtl"]
    #: The locale that was wanted, the one that was used, and why.
    locale_wanted: str
    locale: str
    locale_why: str
    #: The sample whose variables were used; null where they were given.
    sample: str | None
    width: Annotated[int, Meta(description="In pixels, of the frame that an HTML answer shows it in.")]
    sms: SmsPreview | None
    #: The template of WhatsApp that would be sent, with its parameters.
    whatsapp: Any
    #: What would fail a real message, though it is shown here.
    warnings: tuple[TemplateFinding, ...] = ()

    @classmethod
    def of(cls, preview: Preview, width: Width, cost: MessageCost | None = None) -> "PreviewView":
        """The preview as it is shown."""
        rendered = preview.rendered
        return by_name(
            cls,
            rendered,
            **attributes(preview, "channel preheader sample warnings"),
            locale_wanted=preview.wanted,
            locale_why=preview.why,
            width=PIXELS[width],
            sms=SmsPreview.of(rendered.text or "", cost) if preview.channel == "sms" else None,
            whatsapp=None if rendered.whatsapp is None else msgspec.json.decode(rendered.whatsapp),
        )
