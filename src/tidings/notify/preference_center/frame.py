"""The frame of public pages: language and direction, the tenant's name and colour, and the headers that they are served with."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from string import Template
from typing import Final

from tidings.kernel.http.answers import Reply
from tidings.notify.branding.model import ink_on
from tidings.notify.render.model import Brand

_STYLE: Final = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
_PAGE: Final = Template(
    """<!doctype html>
<html lang="$language" dir="$direction">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>$title</title>
<style>$style</style>
</head>
<body>
<main>
$header<div class="card">
<h1>$heading</h1>
$body
</div>
$footer</main>
</body>
</html>
"""
)
#: The look where the tenant has set no other; the pages have it in their style.
OURS: Final = Brand()
#: The address of a page is a secret of the one who reads: no cache keeps the page, and no other site learns where they came from.
SECRET_PAGE_HEADERS: Final = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageBrand:
    """The tenant that the page belongs to."""

    name: str
    #: `#rrggbb`; None: ours.
    colour: str | None = None
    support_url: str | None = None
    #: A line at the end of the page.
    footer: str | None = None

    @classmethod
    def of(cls, look: Brand) -> "PageBrand":
        """The tenant, as it wants to look."""
        return cls(
            name=look.name,
            colour=look.color if look.color != OURS.color else None,
            support_url=look.support_url,
            footer=look.footer,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlPage:
    """A page and the policy that it is served with."""

    html: str
    policy: str


def isolated(name: str) -> str:
    """A name that reads rightly amid a text of the other direction."""
    return f"<bdi>{escape(name)}</bdi>"


def framed(
    language: str,
    direction: str,
    heading: str,
    body: str,
    *,
    brand: PageBrand | None,
    help_text: str,
    style: str = "",
    embed_origins: Sequence[str] = (),
) -> HtmlPage:
    """A whole page; `style` follows the usual one, and pages of `embed_origins` may show it in a frame."""
    styles, policy = _styled(brand.colour if brand is not None else None, style, tuple(embed_origins))
    name = f" · {escape(brand.name)}" if brand is not None else ""
    header = f"<header>{isolated(brand.name)}</header>\n" if brand is not None else ""
    footer = ""
    if brand is not None and brand.support_url is not None:
        footer = f'<footer><a href="{escape(brand.support_url)}">{escape(help_text)}</a></footer>\n'
    if brand is not None and brand.footer is not None:
        footer += f"<footer>{isolated(brand.footer)}</footer>\n"
    html = _PAGE.substitute(
        language=language,
        direction=direction,
        title=f"{escape(heading)}{name}",
        style=styles,
        header=header,
        heading=escape(heading),
        body=body,
        footer=footer,
    )
    return HtmlPage(html=html, policy=policy)


def page_reply(page: HtmlPage, *, status: int = 200, **more: str) -> Reply:
    """The page as it is served; `more` are further headers."""
    headers = {**SECRET_PAGE_HEADERS, "content-security-policy": page.policy, **more}
    return Reply.page(page.html, status=status, headers=headers)


@lru_cache(maxsize=256)
def _styled(colour: str | None, more: str, embed_origins: tuple[str, ...]) -> tuple[str, str]:
    """The style in the tenant's colour, and a policy that allows this style, our own forms and nothing else."""
    style = f"{_STYLE}{more}"
    if colour is not None:
        style = f"{style}:root{{--accent:{colour};--on-accent:{ink_on(colour)}}}\n"
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    ancestors = " ".join(embed_origins) or "'none'"
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; base-uri 'none'; "
        f"frame-ancestors {ancestors}"
    )
    return style, policy
