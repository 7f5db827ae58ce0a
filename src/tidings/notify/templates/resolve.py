"""Which version is in force, and what is in it; from memory, and right within a second of a publish.

What a key resolves to is remembered for half a second, or until a change is announced. A published version never changes, so
its content is kept while there is room. What is missing is read in sets, of whatever tenants.
"""

from collections import OrderedDict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, TypeAlias

from tidings.contracts.messages import Attachment
from tidings.contracts.tenants import Channel
from tidings.kernel.announced_changes import AnnouncedChanges
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.gather import Gatherer
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError
from tidings.kernel.set_cache import SetCache
from tidings.kernel.ttl_cache import ANNOUNCED_TTL
from tidings.notify.ids import TemplateVersionId
from tidings.notify.render.model import Content
from tidings.notify.templates import assets_store, store
from tidings.notify.templates.assets import cid_of
from tidings.notify.templates.errors import InvalidVariablesError, UnknownTemplateError
from tidings.notify.templates.model import Published
from tidings.notify.templates.variables import REQUIRED, Checker

#: Below a second, so that a publish counts within one even when its announcement is lost.
_REMEMBERED_SECONDS: Final = 0.5
#: The content of a version never changes; the category and the default locale of its template may. While such changes are
#: announced it is kept longer.
_CONTENT_AGE: Final = timedelta(seconds=30)
_LONG_AGO: Final = float("-inf")
#: Templates of a tenant that are read before they are used.
_WARM_OF_A_TENANT: Final = 10
#: Readers' locales whose texts are remembered, of each version.
_MOST_LOCALES: Final = 50
#: Callers whose versions are read together, at most.
_MOST_READERS: Final = 50

#: A version as a tenant may use it: its own, or one of the platform's.
OwnedVersion: TypeAlias = tuple[TenantId, TemplateVersionId]


@dataclass(slots=True)
class _Kept:
    published: Published
    size: int
    read_at: float
    checker: Checker | None = field(default=None)
    #: Read when the first mail shows one.
    pictures: Mapping[str, Attachment] | None = field(default=None)
    #: By the reader's locale.
    contents: dict[str, Content] = field(default_factory=dict)


class TemplateResolver:
    """Finds templates for accepting and rendering; one per process."""

    def __init__(
        self,
        db: Database,
        *,
        clock: Clock,
        keep_bytes: int = 64 * 1024 * 1024,
        changes: AnnouncedChanges | None = None,
    ) -> None:
        self._db = db
        self._clock = clock
        self._keep_bytes = keep_bytes
        self._changes = changes
        self._keys: SetCache[tuple[TenantId, str], Mapping[Channel, TemplateVersionId]] = SetCache(
            self._look_up, clock=clock, ttl=timedelta(seconds=_REMEMBERED_SECONDS), announced=changes
        )
        if changes is not None:
            for table in ("notification.templates", "notification_platform.templates"):
                changes.on(table, self.invalidate)
        self._kept: OrderedDict[TemplateVersionId, _Kept] = OrderedDict()
        self._bytes = 0
        #: For each read under way, whose templates were changed meanwhile: that content does not count as fresh.
        self._changed: list[set[str | None]] = []
        self._readers: Gatherer[None, Sequence[OwnedVersion], Mapping[OwnedVersion, Published]] = Gatherer(
            self._read, most_at_once=_MOST_READERS, sets_at_once=2, linger=0
        )

    async def resolve(self, tenant_id: TenantId, key: str, channel: Channel) -> Published:
        """The version in force; an `UnknownTemplateError` where there is none."""
        in_force = await self.channels(tenant_id, key)
        version_id = in_force.get(channel)
        if version_id is None:
            there = f"; there is one for {', '.join(sorted(in_force))}" if in_force else ""
            raise UnknownTemplateError(f"no template {key} is published for {channel}{there}")
        return (await self.versions(tenant_id, [version_id]))[version_id]

    async def channels(self, tenant_id: TenantId, key: str) -> Mapping[Channel, TemplateVersionId]:
        """The version in force for each channel that a key has one for; empty for an unknown key."""
        return await self._keys.of((tenant_id, key))

    async def channels_of_all(
        self, keys: Collection[tuple[TenantId, str]]
    ) -> Mapping[tuple[TenantId, str], Mapping[Channel, TemplateVersionId]]:
        """The same for many; those that are not remembered are looked up together."""
        return await self._keys.of_all(keys)

    async def versions(
        self, tenant_id: TenantId, ids: Iterable[TemplateVersionId]
    ) -> dict[TemplateVersionId, Published]:
        """Those of the versions that this tenant may use, published or archived since."""
        found = await self.versions_of_all({(tenant_id, version_id) for version_id in ids})
        return {version_id: published for (_, version_id), published in found.items()}

    async def versions_of_all(self, wanted: Collection[OwnedVersion]) -> dict[OwnedVersion, Published]:
        """The same for versions of several tenants; what is not in memory is read together."""
        found: dict[OwnedVersion, Published] = {}
        missing: list[OwnedVersion] = []
        for owned in wanted:
            kept = self._fresh(owned)
            if kept is None:
                missing.append(owned)
            else:
                found[owned] = kept.published
        return {**found, **await self._readers.do(None, missing)} if missing else found

    async def pictures(self, tenant_id: TenantId, published: Published) -> Mapping[str, Attachment]:
        """By name: the pictures of a version that `versions` gave, as mails carry them; read once while there is room."""
        version = published.version
        if not version.assets:
            return {}
        kept = self._kept.get(version.id)
        if kept is not None and kept.pictures is not None:
            return kept.pictures
        async with self._db.tenant(tenant_id) as tx:
            read = await assets_store.find_assets(tx, version)
        found = {
            asset.name: Attachment(
                filename=asset.name,
                media_type=version.assets[asset.name].media_type,
                content=asset.content,
                inline_cid=cid_of(asset.name, version.assets[asset.name]),
            )
            for asset in read
        }
        kept = self._kept.get(version.id)
        if kept is not None and kept.pictures is None:
            kept.pictures = found
            more = sum(len(asset.content) for asset in read)
            kept.size += more
            self._bytes += more
            self._make_room()
        return found

    async def warm_up(self, tenant_ids: Sequence[TenantId]) -> None:
        """Have templates in force of these tenants in memory, unless others take half of the room already."""
        if self._bytes > self._keep_bytes // 2:
            return
        async with self._db.tenants(tenant_ids, by_index=True) as tx:
            keys = await store.keys_in_force(tx, tenant_ids, of_a_tenant=_WARM_OF_A_TENANT)
        in_force = await self._keys.of_all(keys)
        await self.versions_of_all(
            {
                (tenant_id, version_id)
                for (tenant_id, _), by_channel in in_force.items()
                for version_id in by_channel.values()
            }
        )

    def content_for(self, published: Published, locale: str) -> Content:
        """The texts of a version that `versions` gave, for a reader of `locale`; chosen once while there is room."""
        kept = self._kept.get(published.version.id)
        if kept is None or kept.published is not published:
            return published.content_for(locale)
        content = kept.contents.get(locale)
        if content is None:
            if len(kept.contents) >= _MOST_LOCALES:
                kept.contents.clear()
            content = kept.contents[locale] = published.content_for(locale)
        return content

    def check_variables(
        self, published: Published, variables: Any, *, field: str = "variables", may_lack: Container[str] = ()
    ) -> None:
        """Return where the variables fit; an `InvalidVariablesError` naming every fault where they don't.

        `may_lack`: names of those that are no fault where they are missing.
        """
        faults = [
            fault
            for fault in self.variable_faults(published, variables, field=field)
            if fault.remedy != REQUIRED
            or fault.field.removeprefix(f"{field}.").partition(".")[0] not in may_lack
        ]
        if faults:
            raise InvalidVariablesError(faults)

    def variable_faults(
        self, published: Published, variables: Any, *, field: str = "variables"
    ) -> list[FieldError]:
        """All that is wrong with the variables; nothing where they fit."""
        kept = self._kept.get(published.version.id)
        checker = kept.checker if kept is not None else None
        if checker is None:
            checker = Checker(published.version.variables_schema)
            if kept is not None:
                kept.checker = checker
        return checker.faults(variables, field=field)

    def invalidate(self, tenant_id: str | None = None) -> None:
        """Look anew at the next question; where a tenant is named, only about its own templates."""
        for changed in self._changed:
            changed.add(tenant_id)
        if tenant_id is None:
            # What is the platform's may be in force for anyone.
            self._keys.clear()
        else:
            self._keys.forget_where(lambda known: known[0] == tenant_id)
        for kept in self._kept.values():
            if tenant_id is None or kept.published.version.tenant_id == tenant_id:
                kept.read_at = _LONG_AGO

    async def _look_up(
        self, wanted: Sequence[tuple[TenantId, str]]
    ) -> Mapping[tuple[TenantId, str], Mapping[Channel, TemplateVersionId]]:
        async with self._db.tenants({tenant_id for tenant_id, _ in wanted}, by_index=True) as tx:
            return await store.resolve_keys(tx, wanted)

    async def _read(
        self, _: None, asked: Sequence[Sequence[OwnedVersion]]
    ) -> Sequence[Mapping[OwnedVersion, Published] | Exception]:
        wanted = dict.fromkeys(owned for some in asked for owned in some)
        # The set before may have brought some.
        found = {owned: kept.published for owned in wanted if (kept := self._fresh(owned)) is not None}
        missing = [owned for owned in wanted if owned not in found]
        if missing:
            found |= await self._read_missing(missing)
        return [{owned: found[owned] for owned in some if owned in found} for some in asked]

    async def _read_missing(self, missing: Sequence[OwnedVersion]) -> Mapping[OwnedVersion, Published]:
        asked_at = self._clock.monotonic()
        changed: set[str | None] = set()
        self._changed.append(changed)
        try:
            async with self._db.tenants({tenant_id for tenant_id, _ in missing}, by_index=True) as tx:
                read = await store.find_versions_of_all(tx, missing)
        finally:
            # By identity: two that are empty are equal.
            self._changed = [one for one in self._changed if one is not changed]
        for published in {one.version.id: one for one in read.values()}.values():
            old = None in changed or published.version.tenant_id in changed
            self._keep(published, _LONG_AGO if old else asked_at)
        return read

    def _fresh(self, owned: OwnedVersion) -> _Kept | None:
        tenant_id, version_id = owned
        kept = self._kept.get(version_id)
        if kept is None:
            return None
        announced = self._changes is not None and self._changes.live
        age = ANNOUNCED_TTL if announced else _CONTENT_AGE
        if self._clock.monotonic() - kept.read_at > age.total_seconds():
            return None
        # What is in memory has passed no policy: a tenant sees its own and the platform's.
        if kept.published.version.tenant_id not in (None, tenant_id):
            return None
        self._kept.move_to_end(version_id)
        return kept

    def _keep(self, published: Published, read_at: float) -> None:
        size = sum(
            4 * len(part)
            for text in published.version.locales.values()
            for part in (
                text.source.body,
                text.compiled and text.compiled.html,
                text.compiled and text.compiled.text,
            )
            if part
        )
        before = self._kept.pop(published.version.id, None)
        # The same schema needs no second compiling.
        checker = before.checker if before is not None else None
        pictures = before.pictures if before is not None else None
        size += sum(len(picture.content) for picture in (pictures or {}).values())
        self._bytes += size - (before.size if before is not None else 0)
        self._kept[published.version.id] = _Kept(published, size, read_at, checker, pictures)
        self._make_room()

    def _make_room(self) -> None:
        while self._bytes > self._keep_bytes and len(self._kept) > 1:
            self._bytes -= self._kept.popitem(last=False)[1].size
