"""The use case "give me my templates as files"."""

import asyncio
import tempfile
import zipfile
from collections.abc import AsyncIterator, Sequence
from typing import IO, Final

from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx
from tidings.notify.templates import assets_store, layouts_store
from tidings.notify.templates import store as templates
from tidings.notify.templates.assets import Asset
from tidings.notify.templates.bundle import store
from tidings.notify.templates.bundle.layout import layout_file
from tidings.notify.templates.bundle.store import SelectedVersion
from tidings.notify.templates.bundle.texts import to_file
from tidings.notify.templates.bundle.write import add_file, files_of
from tidings.notify.templates.errors import UnknownTemplateError
from tidings.notify.templates.model import Template, TemplateName, TemplateVersion
from tidings.notify.templates.read_version import Begin

#: How many versions are in memory at a time.
_BATCH: Final = 20
#: From this size on the zip lies on the disk while it is made.
_SPOOLED_BYTES: Final = 4 * 1024 * 1024
_CHUNK: Final = 64 * 1024


async def export_bundle(
    begin: Begin, *, key: str | None, channel: Channel | None, drafts: bool, of_platform: bool
) -> IO[bytes]:
    """A file with the zip, to be read from its start; the reader closes it."""
    into: IO[bytes] = tempfile.SpooledTemporaryFile(_SPOOLED_BYTES)  # noqa: SIM115  # the reader closes it
    try:
        with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as packed:
            async with begin() as tx:
                picked = await store.pick_versions(
                    tx,
                    key=key,
                    channel=channel,
                    # Drafts of the platform's are the platform's alone.
                    drafts=drafts and not (of_platform and isinstance(tx, TenantTx)),
                    of_platform=of_platform,
                )
                _refuse_unknown(picked, key, channel)
                used: set[str] = set()
                async for template, version in _read(tx, picked):
                    used |= {version.layout} if version.layout else set()
                    assets = await assets_store.find_assets(tx, version)
                    await asyncio.to_thread(_add, packed, template, version, assets)
                # All of them, or those that the wanted template is set into.
                for layout in [] if of_platform else await layouts_store.list_layouts(tx):
                    if key is None or layout.name in used:
                        add_file(packed, layout_file(layout.name), to_file(layout.text))
    except BaseException:
        into.close()
        raise
    into.seek(0)
    return into


async def chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    """The whole file, a piece at a time; it is closed at the end."""
    with file:
        while piece := file.read(_CHUNK):
            yield piece


async def _read(
    tx: templates.Side, picked: list[SelectedVersion]
) -> AsyncIterator[tuple[Template, TemplateVersion]]:
    if isinstance(tx, TenantTx):
        for first in range(0, len(picked), _BATCH):
            ids = [one.id for one in picked[first : first + _BATCH]]
            owned = [(tx.tenant_id, version_id) for version_id in ids]
            found = await templates.find_versions_of_all(tx, owned)
            for published in (found[one] for one in owned):
                yield published.template, published.version
        return
    # The platform's own are a handful, and an operator asks for them now and then.
    for one in picked:
        template = await templates.find_template(tx, TemplateName(one.key, one.channel))
        version = template and await templates.find_version(tx, template_id=template.id, semver=one.semver)
        if template and version:
            yield template, version


def _refuse_unknown(picked: list[SelectedVersion], key: str | None, channel: Channel | None) -> None:
    if not picked and key is not None:
        raise UnknownTemplateError(f"there is no template {key}" + (f" for {channel}" if channel else ""))


def _add(
    packed: zipfile.ZipFile, template: Template, version: TemplateVersion, assets: Sequence[Asset]
) -> None:
    for path, content in files_of(template, version, assets):
        add_file(packed, path, content)
