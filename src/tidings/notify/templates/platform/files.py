"""Reads the platform's templates: a layout that all locales share, and the phrases of each."""

import re
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import msgspec

from tidings.contracts.tenants import Channel
from tidings.kernel.mapping import attributes
from tidings.notify.render.locales import direction_of
from tidings.notify.templates.create_version import VersionSpec
from tidings.notify.templates.model import BodyFormat, Source, VersionName, WhatsappReference
from tidings.notify.templates.platform.elements import SHARED, expanded
from tidings.notify.templates.semver import Semver

_FOLDER: Final = Path(__file__).parent
_PHRASE: Final = re.compile(r"\[\[([a-z_]+)\]\]")


class _LocaleFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    phrases: dict[str, str]
    subject: str | None = None
    preheader: str | None = None
    #: The template of this text that is registered with WhatsApp.
    whatsapp: WhatsappReference | None = None


class _VariablesFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    variables_schema: dict[str, Any]
    preview_samples: dict[str, dict[str, Any]]


class _TemplateFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    key: str
    channel: Channel
    category: str
    semver: str
    format: BodyFormat
    default_locale: str
    locales: dict[str, _LocaleFile]
    #: The name of a file in `shared/variables`, for a template that takes the same in several channels.
    variables: str | None = None
    variables_schema: dict[str, Any] = {}
    preview_samples: dict[str, dict[str, Any]] = {}

    def declared(self) -> _VariablesFile:
        """Its variables, wherever they are written."""
        if self.variables is None:
            return _VariablesFile(
                variables_schema=self.variables_schema, preview_samples=self.preview_samples
            )
        file = SHARED / "variables" / f"{self.variables}.json"
        return msgspec.json.decode(file.read_bytes(), type=_VariablesFile)


class PlatformTemplate:
    """One template of the set; its texts are put together when they are asked for."""

    def __init__(self, file: Path) -> None:
        self._read = msgspec.json.decode(file.read_bytes(), type=_TemplateFile)
        self.folder: Final = file.parent
        self.key: Final = self._read.key
        self.channel: Final = self._read.channel
        self.semver: Final = Semver.parse(self._read.semver)
        self.name: Final = VersionName(self.key, self.channel, str(self.semver))

    @cached_property
    def spec(self) -> VersionSpec:
        """The version as an author would send it."""
        read, declared = self._read, self._read.declared()
        layout = expanded(next(self.folder.glob("layout.*")).read_text(encoding="utf-8").strip())
        return VersionSpec(
            semver=self.semver,
            category=read.category,
            default_locale=read.default_locale,
            variables_schema=declared.variables_schema,
            samples=declared.preview_samples,
            locales={
                tag: Source(
                    format=read.format,
                    body=_filled(layout, tag, text.phrases),
                    **attributes(text, "subject preheader whatsapp"),
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
    known = {**sides, **_shared_phrases().get(tag, {}), **phrases}
    return _PHRASE.sub(lambda phrase: known[phrase[1]], layout)


@cache
def _shared_phrases() -> dict[str, dict[str, str]]:
    return msgspec.json.decode((SHARED / "phrases.json").read_bytes(), type=dict[str, dict[str, str]])
