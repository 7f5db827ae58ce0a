"""A reference to a template that is registered with WhatsApp, as it stands in requests and answers."""

from typing import Annotated

from msgspec import Meta, Struct

from tidings.contracts.vendor_templates import ButtonKind, HeaderKind

_Value = Annotated[str, Meta(min_length=1, max_length=1024)]
_PlaceName = Annotated[
    str,
    Meta(
        max_length=100,
        pattern=r"^[a-z0-9_]+\Z",
        description="must be the name of a place in the registered template: lower-case letters, digits and _",
    ),
]


class WhatsappHeader(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What goes into the header of a registered template: a text, or a file."""

    type: HeaderKind
    #: A Handlebars text, where `type` is `text`.
    text: _Value | None = None
    #: Where the place in the header's text has a name.
    parameter_name: _PlaceName | None = None
    #: Where WhatsApp fetches the file, as a Handlebars text that begins with https://.
    link: Annotated[str, Meta(min_length=1, max_length=2048)] | None = None
    #: Instead of `link`: Meta's id of a file that was uploaded.
    id: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    #: What a document is called.
    filename: Annotated[str, Meta(min_length=1, max_length=240)] | None = None


class WhatsappButton(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What goes into one button of a registered template."""

    type: ButtonKind
    #: Its place among all buttons of the template, from 0.
    index: Annotated[int, Meta(ge=0, le=9)]
    #: A Handlebars text: the end of the address (`url`), what comes back when it is pressed (`quick_reply`), the code
    #: that is copied (`copy_code`).
    text: _Value


class Whatsapp(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A template that is registered with WhatsApp, and what goes into it."""

    name: Annotated[
        str,
        Meta(
            max_length=512,
            pattern=r"^[a-z0-9_]+\Z",
            description="must be the name of the registered template: lower-case letters, digits and _",
        ),
    ]
    #: The registered language, such as `en_US`.
    language: Annotated[
        str,
        Meta(
            pattern=r"^[a-z]{2,3}(_[A-Za-z]{2,4})?\Z",
            description="must be the registered language, such as en or en_US",
        ),
    ]
    #: Handlebars texts for the places of its body, in their order.
    parameters: Annotated[tuple[_Value, ...], Meta(max_length=50)] = ()
    #: The same for a body whose places have names.
    named_parameters: Annotated[dict[_PlaceName, _Value], Meta(max_length=50)] = {}
    #: What goes into its header.
    header: WhatsappHeader | None = None
    #: What goes into its buttons; those that take nothing are left out.
    buttons: Annotated[tuple[WhatsappButton, ...], Meta(max_length=10)] = ()
    #: For a template of Meta's category AUTHENTICATION: the code, as in `{{code}}`. It goes into the body and into the
    #: button, whichever kind that is (copy code, one-tap, zero-tap).
    otp_button: _Value | None = None
