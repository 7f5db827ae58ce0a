"""What becomes of a folder: its files and the version that is there in, a draft or findings out; no I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from tidings.contracts.templates import TemplateFinding
from tidings.kernel.audit.log import Entry
from tidings.kernel.refusals import InvalidError
from tidings.notify.templates.assets import Asset
from tidings.notify.templates.bundle.findings import error
from tidings.notify.templates.bundle.layout import FACTS, folder_of
from tidings.notify.templates.bundle.read import ReadTemplate, refused
from tidings.notify.templates.bundle.store import LockedTemplate
from tidings.notify.templates.create_version import ARCHIVED_KEY, created_entry, new_draft, refuse_changes
from tidings.notify.templates.drafts import entry_of, rewritten
from tidings.notify.templates.model import Template, TemplateVersion, VersionStatus

Outcome = Literal["created", "replaced", "unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedDraft:
    """What becomes of one folder."""

    template: Template
    version: TemplateVersion
    outcome: Outcome
    #: Pictures that are new or say something else, and the names of those that go.
    fresh_assets: Sequence[Asset] = ()
    gone_assets: Sequence[str] = ()

    def entry(self, actor: str) -> Entry:
        """What the audit says of it."""
        if self.outcome == "created":
            return created_entry(self.template, self.version, actor)
        return entry_of(self.template, self.version, "version.changed", actor)


def plan(
    wanted: ReadTemplate, held: LockedTemplate, there: TemplateVersion | None, *, actor: str, now: datetime
) -> PlannedDraft | list[TemplateFinding]:
    """The draft that the folder asks for; `there` is the version of its number."""
    home, template = folder_of(wanted.key, wanted.channel), held.template
    if held.archived:
        return list(refused(home, wanted.formats, InvalidError([ARCHIVED_KEY])))
    try:
        refuse_changes(template, wanted.spec)
    except InvalidError as invalid:
        return list(refused(home, wanted.formats, invalid))
    facts = {asset.name: asset.facts for asset in wanted.assets}
    if there is None:
        draft = replace(new_draft(template, wanted.spec, actor=actor, now=now), assets=facts)
        return PlannedDraft(template=template, version=draft, outcome="created", fresh_assets=wanted.assets)
    if says_the_same(there, wanted):
        return PlannedDraft(template=template, version=there, outcome="unchanged")
    if there.status is not VersionStatus.DRAFT:
        what = f"version {there.semver} was published and says something else"
        return [error(f"{home}/{FACTS}", what, "raise semver", field="semver")]
    return PlannedDraft(
        template=template,
        version=replace(rewritten(there, wanted.spec, actor=actor, now=now), assets=facts),
        outcome="replaced",
        fresh_assets=[asset for asset in wanted.assets if there.assets.get(asset.name) != asset.facts],
        gone_assets=sorted(there.assets.keys() - facts.keys()),
    )


def says_the_same(there: TemplateVersion, wanted: ReadTemplate) -> bool:
    """Whether the files add nothing to what is there."""
    spec = wanted.spec
    return (
        dict(there.variables_schema) == dict(spec.variables_schema)
        and {tag: text.source for tag, text in there.locales.items()} == dict(spec.locales)
        and dict(there.samples) == dict(spec.samples)
        # The first is what a preview shows; of a version that was published the order counts for nothing any more.
        and (there.status is not VersionStatus.DRAFT or list(there.samples) == list(spec.samples))
        and tuple(there.fallback_chain) == tuple(spec.fallback_chain)
        and dict(there.partials) == dict(spec.partials)
        and dict(there.strings) == dict(spec.strings)
        and there.layout == spec.layout
        and dict(there.assets) == {asset.name: asset.facts for asset in wanted.assets}
        # An AI draft stays one, whether its files say so or not.
        and spec.provenance in (None, there.provenance)
    )
