"""Pictures that belong to a version: what may be one, and by which name mails carry it."""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.templates.device_names import device_remedy
from tidings.notify.templates.image_types import media_type_of
from tidings.notify.templates.model import AssetFacts

MOST_BYTES: Final = 512 * 1024
MOST_BYTES_IN_ALL: Final = 2 * 1024 * 1024
MOST: Final = 20
NAME_RULE: Final = "must be 1 to 80 lower-case letters, digits and . _ - such as logo.png"
_NAME: Final = re.compile(r"[a-z0-9._-]{1,80}")
#: Where markup names one: as an attribute's whole value, or in url().
_SHOWN: Final = re.compile(r"""(["'(;])cid:([a-z0-9._-]{1,80})(?=["')&])""")

_IN_STYLE: Final = re.compile(r"""url\(\s*(?:&quot;|["'])?cid:([a-z0-9._-]{1,80})(?=["')&])""")


@dataclass(frozen=True)
class Asset:
    """A picture."""

    name: str
    content: bytes = field(repr=False)

    @cached_property
    def facts(self) -> AssetFacts:
        """What is kept of it beside the version."""
        return AssetFacts(
            media_type=media_type_of(self.content) or "",
            size=len(self.content),
            sha256=hashlib.sha256(self.content).hexdigest(),
        )


def fault_of(name: str, content: bytes) -> str | None:
    """Why this can't be an asset, as the rest of a sentence; None where it can."""
    if not _NAME.fullmatch(name) or set(name) == {"."}:
        return f"has a name that can't be used; it {NAME_RULE}"
    if remedy := device_remedy(name):
        return remedy
    if len(content) > MOST_BYTES:
        return f"has more than {MOST_BYTES} bytes; make the picture smaller"
    if media_type_of(content) is None:
        return "is no picture that mails can show; save it anew as PNG, JPEG, GIF or WebP"
    return None


def crowd_fault(assets: Mapping[str, AssetFacts]) -> str | None:
    """Why a version can't have all of these; None where it can."""
    if len(assets) > MOST:
        return f"has more than {MOST} pictures; leave some out"
    if sum(facts.size for facts in assets.values()) > MOST_BYTES_IN_ALL:
        return f"has more than {MOST_BYTES_IN_ALL} bytes of pictures; make them smaller"
    return None


def checked(name: str, content: bytes) -> Asset:
    """The asset; refused by name where it can't be one."""
    if fault := fault_of(name, content):
        raise InvalidError([FieldError("asset", fault)])
    return Asset(name, content)


def cid_of(name: str, facts: AssetFacts) -> str:
    """Its Content-ID: the same for the same picture everywhere, and no other's, whatever a caller attaches."""
    return f"{name}@{facts.sha256[:20]}.tidings"


def with_cids(html: str, assets: Mapping[str, AssetFacts]) -> str:
    """Compiled HTML in which each asset is named by its Content-ID."""

    def named(found: re.Match[str]) -> str:
        facts = assets.get(found[2])
        return found[0] if facts is None else f"{found[1]}cid:{cid_of(found[2], facts)}"

    return _SHOWN.sub(named, html)


def shown_in(html: str | None, assets: Mapping[str, AssetFacts]) -> list[str]:
    """The names of those that HTML shows."""
    if not html:
        return []
    return [name for name, facts in assets.items() if f"cid:{cid_of(name, facts)}" in html]


def unknown_in_styles(html: str | None, assets: Collection[str]) -> list[str]:
    """The names that styles of compiled HTML say and that are none; those of attributes are found before."""
    return sorted({name for name in _IN_STYLE.findall(html or "") if name not in assets})


def with_data(html: str, assets: Iterable[Asset]) -> str:
    """HTML for a browser: the pictures are in it."""
    from base64 import b64encode

    for asset in assets:
        data = f"data:{asset.facts.media_type};base64,{b64encode(asset.content).decode()}"
        html = html.replace(f"cid:{cid_of(asset.name, asset.facts)}", data)
    return html
