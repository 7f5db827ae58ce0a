"""A text that the vendor keeps and has approved, what is filled into it, and what WhatsApp refuses there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

HeaderKind: TypeAlias = Literal["text", "image", "video", "document"]
ButtonKind: TypeAlias = Literal["url", "quick_reply", "copy_code"]

#: Meta's limit for the code of an authentication template.
LONGEST_CODE: Final = 15
#: Meta's languages of templates (developers.facebook.com, "Supported languages", 2026-05-21).
LANGUAGES: Final = frozenset(
    [
        "af",
        "sq",
        "ar",
        "ar_EG",
        "ar_AE",
        "ar_LB",
        "ar_MA",
        "ar_QA",
        "az",
        "be_BY",
        "bn",
        "bn_IN",
        "bg",
        "ca",
        "zh_CN",
        "zh_HK",
        "zh_TW",
        "hr",
        "cs",
        "da",
        "prs_AF",
        "nl",
        "nl_BE",
        "en",
        "en_GB",
        "en_US",
        "en_AE",
        "en_AU",
        "en_CA",
        "en_GH",
        "en_IE",
        "en_IN",
        "en_JM",
        "en_MY",
        "en_NZ",
        "en_QA",
        "en_SG",
        "en_UG",
        "en_ZA",
        "et",
        "fil",
        "fi",
        "fr",
        "fr_BE",
        "fr_CA",
        "fr_CH",
        "fr_CI",
        "fr_MA",
        "ka",
        "de",
        "de_AT",
        "de_CH",
        "el",
        "gu",
        "ha",
        "he",
        "hi",
        "hu",
        "id",
        "ga",
        "it",
        "ja",
        "kn",
        "kk",
        "rw_RW",
        "ko",
        "ky_KG",
        "lo",
        "lv",
        "lt",
        "mk",
        "ms",
        "ml",
        "mr",
        "nb",
        "ps_AF",
        "fa",
        "pl",
        "pt_BR",
        "pt_PT",
        "pa",
        "ro",
        "ru",
        "sr",
        "si_LK",
        "sk",
        "sl",
        "es",
        "es_AR",
        "es_CL",
        "es_CO",
        "es_CR",
        "es_DO",
        "es_EC",
        "es_HN",
        "es_MX",
        "es_PA",
        "es_PE",
        "es_ES",
        "es_UY",
        "sw",
        "sv",
        "ta",
        "te",
        "th",
        "tr",
        "uk",
        "ur",
        "uz",
        "vi",
        "zu",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateHeader:
    """What goes into the header: a text, or a file that the vendor fetches or has been given."""

    type: HeaderKind
    text: str | None = field(default=None, repr=False)
    #: Where the place in the header's text has a name.
    parameter_name: str | None = None
    #: Where the vendor fetches the file; or the vendor's id of one that it has.
    link: str | None = field(default=None, repr=False)
    id: str | None = field(default=None, repr=False)
    #: What a document is called.
    filename: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateButton:
    """What goes into one button."""

    type: ButtonKind
    #: Its place among all buttons of the template, from 0.
    index: int
    #: The end of the address, what comes back when it is pressed, or the code that is copied.
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorTemplate:
    """A text that the vendor keeps and has approved, with what is filled in."""

    name: str
    #: As the vendor writes it: `en_US`.
    language: str
    #: In the order of the body's places; where those have names, `named_parameters` has them.
    parameters: tuple[str, ...] = field(default=(), repr=False)
    named_parameters: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    header: TemplateHeader | None = None
    buttons: tuple[TemplateButton, ...] = ()
    #: The code of an authentication template: it goes into the body and into the button that copies it or fills it in.
    otp_button: str | None = field(default=None, repr=False)

    def values(self) -> Iterator[tuple[str, str]]:
        """What is filled in, each under its field: header, body, buttons."""
        if self.header is not None:
            for name in ("text", "link", "id", "filename"):
                if (value := getattr(self.header, name)) is not None:
                    yield f"header.{name}", value
        for place, value in enumerate(self.parameters):
            yield f"parameters[{place}]", value
        for name, value in self.named_parameters.items():
            yield f"named_parameters.{name}", value
        for place, button in enumerate(self.buttons):
            yield f"buttons[{place}].text", button.text
        if self.otp_button is not None:
            yield "otp_button", self.otp_button


def one_line(value: str) -> str:
    """As WhatsApp takes a value: without line breaks, tabs, and more than four blanks in a row."""
    return " ".join(value.split())


def shape_faults(template: VendorTemplate) -> Iterator[tuple[str, str]]:
    """What does not go together, whatever is filled in: a field, and what is wrong with it."""
    if template.otp_button is not None:
        for name in ("parameters", "named_parameters", "header", "buttons"):
            if getattr(template, name):
                yield (
                    name,
                    "has no place in an authentication template: otp_button fills its body and its button; leave it out",
                )
    if template.parameters and template.named_parameters:
        yield (
            "named_parameters",
            "can't stand beside parameters: a template's places have numbers or names; leave one of them out",
        )
    indexes = [button.index for button in template.buttons]
    for place, index in enumerate(indexes):
        if index in indexes[:place]:
            yield f"buttons[{place}].index", f"is {index} twice; give each button its own place, from 0"
    if template.header is not None:
        yield from _header_faults(template.header)


def _header_faults(header: TemplateHeader) -> Iterator[tuple[str, str]]:
    files = [name for name in ("link", "id") if getattr(header, name) is not None]
    if header.type == "text":
        if header.text is None:
            yield "header.text", "is missing; a header of the type text needs it"
        for name in (*files, *(["filename"] if header.filename is not None else [])):
            yield (
                f"header.{name}",
                "belongs to a file; leave it out, or set the type to image, video or document",
            )
        return
    if len(files) != 1:
        yield "header.link", f"or header.id is needed for a header of the type {header.type}: one of them"
    for name in ("text", "parameter_name"):
        if getattr(header, name) is not None:
            yield f"header.{name}", f"belongs to a text; leave it out of a header of the type {header.type}"
    if header.filename is not None and header.type != "document":
        yield "header.filename", "belongs to a document; leave it out"


def value_faults(template: VendorTemplate) -> Iterator[tuple[str, str]]:
    """What WhatsApp would refuse of the values, each by its field and without quoting it."""
    for name, value in template.values():
        folded = one_line(value)
        if not folded:
            yield (
                name,
                "is empty, and WhatsApp refuses a message with an empty value; write something for this case too",
            )
        elif name == "otp_button" and len(folded) > LONGEST_CODE:
            yield (
                name,
                f"is longer than the {LONGEST_CODE} characters that WhatsApp allows for a code; make codes shorter",
            )
        elif name == "header.link" and not folded.startswith("https://"):
            yield name, "must begin with https://, where WhatsApp fetches the file"
    for place, button in enumerate(template.buttons):
        code = one_line(button.text)
        if button.type == "copy_code" and code and not (code.isascii() and code.isalnum()):
            yield f"buttons[{place}].text", "must be letters and digits alone: WhatsApp copies no other code"
