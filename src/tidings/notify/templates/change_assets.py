"""The use cases "this picture belongs to the draft" and "it does not any more"."""

from collections.abc import Mapping
from dataclasses import replace

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.templates import assets_store
from tidings.notify.templates.assets import Asset, crowd_fault
from tidings.notify.templates.drafts import entry_of, held_draft
from tidings.notify.templates.errors import UnknownAssetError
from tidings.notify.templates.model import AssetFacts, TemplateVersion, VersionName
from tidings.notify.templates.store import Side


class AssetChanger:
    """Changes the pictures of drafts."""

    def __init__(self, audit: AuditLog, clock: Clock) -> None:
        self._audit = audit
        self._clock = clock

    async def put(self, tx: Side, draft: VersionName, asset: Asset, *, actor: str) -> TemplateVersion:
        """The draft with the picture; the same picture again changes nothing."""
        template, version = await held_draft(tx, draft)
        if version.assets.get(asset.name) == asset.facts:
            return version
        facts = {**version.assets, asset.name: asset.facts}
        if fault := crowd_fault(facts):
            raise InvalidError([FieldError("assets", fault)])
        await assets_store.put_assets(tx, [(version.id, asset)], now=self._clock.now())
        await self._audit.append(tx, [entry_of(template, version, "version.changed", actor)])
        return await self._noted(tx, version, facts)

    async def delete(self, tx: Side, draft: VersionName, name: str, *, actor: str) -> TemplateVersion:
        """The draft without the picture."""
        template, version = await held_draft(tx, draft)
        if name not in version.assets:
            raise UnknownAssetError(f"{draft} {draft.semver} has no such picture")
        facts = {other: known for other, known in version.assets.items() if other != name}
        await assets_store.delete_assets(tx, [(version.id, name)])
        await self._audit.append(tx, [entry_of(template, version, "version.changed", actor)])
        return await self._noted(tx, version, facts)

    async def _noted(
        self, tx: Side, version: TemplateVersion, facts: Mapping[str, AssetFacts]
    ) -> TemplateVersion:
        now = self._clock.now()
        await assets_store.note_assets(tx, version.id, facts, now)
        return replace(
            version,
            assets=dict(sorted(facts.items())),
            approver_user_id=None,
            approved_at=None,
            version=version.version + 1,
            updated_at=now,
        )
