"""How a tenant looks: what it has said, a channel's overrides over it, and our own look where neither has said."""

from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from tidings.contracts.text import Label
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import FieldError
from tidings.notify.channels.model import Branding as Overrides
from tidings.notify.channels.model import Colour
from tidings.notify.render.model import Brand
from tidings.notify.tenants.link_domains import host_allowed

Address = Annotated[
    str,
    Meta(
        max_length=2048,
        pattern=r"^https://[^\s\x00-\x1f\x7f-\x9f'\"()<>\\\\`]+\Z",
        description="must be an address that begins with https://",
    ),
]
Footer = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=500,
        pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z",
        description="must be one line of text without control characters",
    ),
]


class TenantBranding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tenant's look; what is left out is ours."""

    #: As people know it; the tenant's name where it is left out.
    name: Label | None = None
    #: A picture of about 40 pixels' height; its host must be among allowed_link_domains where there is such a list.
    logo_url: Address | None = None
    primary_colour: Colour | None = None
    #: A line at the end of mails and pages, such as the company's name and seat.
    footer: Footer | None = None
    support_url: Address | None = None


def link_faults(branding: TenantBranding, allowed: tuple[str, ...]) -> list[FieldError]:
    """Links that messages would not be allowed to hold."""
    return [
        FieldError(
            field, "leads to a host that allowed_link_domains does not name; add it there, or use another"
        )
        for field in ("logo_url", "support_url")
        if (url := getattr(branding, field)) is not None and not _allowed(url, allowed)
    ]


def brand_of(
    branding: TenantBranding | None,
    overrides: Overrides | None,
    *,
    tenant_name: str | None,
    theme_etag: str,
    allowed: tuple[str, ...] = (),
) -> Brand:
    """The look on one channel. A link that may not stand in messages any more is left out, and fails none."""
    said = branding or TenantBranding()
    over = overrides or Overrides()
    colour = over.primary_colour or said.primary_colour
    plain = Brand(
        name=over.product_name or said.name or tenant_name or "",
        logo_url=_kept(over.logo_url or said.logo_url, allowed),
        footer=said.footer,
        support_url=_kept(over.support_url or said.support_url, allowed),
        theme_etag=theme_etag,
    )
    if colour is None:
        return plain
    return by_name(Brand, plain, color=colour, on_color=ink_on(colour), theme_etag=theme_etag)


def theme_etag_of(tenant_etag: str, version: int | None) -> str:
    """What the tenant's events call its theme, and the version of what it has said here."""
    return "-".join(part for part in (tenant_etag, f"v{version}" if version else "") if part)


def ink_on(colour: str) -> str:
    """Black or white, whichever stands out more (WCAG's relative luminance)."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000" if light > 0.179 else "#fff"


def _kept(url: str | None, allowed: tuple[str, ...]) -> str | None:
    return url if url is not None and _allowed(url, allowed) else None


def _allowed(url: str, allowed: tuple[str, ...]) -> bool:
    if not allowed:
        return True
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return False
    return host_allowed(host, allowed)
