"""Reads the platform's templates: a layout that all locales share, and the phrases of each."""

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import msgspec

from tidings.contracts.tenants import Channel
from tidings.notify.render.locales import direction_of
from tidings.notify.templates.create_version import VersionWish
from tidings.notify.templates.model import BodyFormat, Source
from tidings.notify.templates.semver import Semver

_FOLDER: Final = Path(__file__).parent
_PHRASE: Final = re.compile(r"\[\[([a-z_]+)\]\]")


class _LocaleFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    phrases: dict[str, str]
    subject: str | None = None
    preheader: str | None = None


class _TemplateFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    key: str
    channel: Channel
    category: str
    semver: str
    format: BodyFormat
    default_locale: str
    variables_schema: dict[str, Any]
    preview_samples: dict[str, dict[str, Any]]
    locales: dict[str, _LocaleFile]


class PlatformTemplate:
    """One template of the set; its texts are put together when they are asked for."""

    def __init__(self, file: Path) -> None:
        self._read = msgspec.json.decode(file.read_bytes(), type=_TemplateFile)
        self._folder = file.parent
        self.key: Final = self._read.key
        self.channel: Final = self._read.channel
        self.semver: Final = Semver.parse(self._read.semver)

    @cached_property
    def wish(self) -> VersionWish:
        """The version as an author would send it."""
        read = self._read
        layout = next(self._folder.glob("layout.*")).read_text(encoding="utf-8").strip()
        return VersionWish(
            semver=self.semver,
            category=read.category,
            default_locale=read.default_locale,
            variables_schema=read.variables_schema,
            samples=read.preview_samples,
            locales={
                tag: Source(
                    format=read.format,
                    body=_filled(layout, tag, text.phrases),
                    subject=text.subject,
                    preheader=text.preheader,
                )
                for tag, text in read.locales.items()
            },
        )


def read_set(folder: Path = _FOLDER) -> Iterator[PlatformTemplate]:
    """Every template in the folder."""
    for file in sorted(folder.glob("*/template.json")):
        yield PlatformTemplate(file)


def _filled(layout: str, tag: str, phrases: dict[str, str]) -> str:
    from_right = direction_of(tag) == "rtl"
    sides = {"start": "right" if from_right else "left", "end": "left" if from_right else "right"}
    known = {**sides, **phrases}
    return _PHRASE.sub(lambda phrase: known[phrase[1]], layout)
