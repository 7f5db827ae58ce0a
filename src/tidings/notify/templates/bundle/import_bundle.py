"""The use case "take these files": a draft for every folder, all of them or none.

A trial is the same work in a transaction that is undone: what it reports is what would happen. The validator
looks at the drafts when the transaction is over; what it finds stands in the way of publishing, not of taking.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tidings.contracts.templates import Finding
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.refusals import InvalidError
from tidings.notify.templates import layouts_store, store
from tidings.notify.templates.bundle.errors import BundleRefusedError
from tidings.notify.templates.bundle.findings import error, warning
from tidings.notify.templates.bundle.layout import FACTS, folder_of, layout_file
from tidings.notify.templates.bundle.read import ReadBundle, ReadTemplate, refused
from tidings.notify.templates.bundle.store import lock_templates
from tidings.notify.templates.change_assets import set_assets
from tidings.notify.templates.create_version import create_version, refuse_changes
from tidings.notify.templates.drafts import change_draft
from tidings.notify.templates.errors import TemplateVersionTakenError
from tidings.notify.templates.model import Template, Version, VersionStatus
from tidings.notify.templates.publish import Begin, ReadVersion, in_surroundings
from tidings.notify.templates.validate import Engine

Outcome = Literal["created", "replaced", "unchanged"]
#: How many the validator looks at in one go: each takes its time, and somebody waits for the answer.
_MOST_CHECKED: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of one folder."""

    template: Template
    version: Version
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of them all."""

    taken: Sequence[Taken]
    #: What was found while they were taken; an error here refuses them all.
    findings: Sequence[Finding]
    #: What the validator found; an error here stands in the way of publishing.
    checked: Sequence[Finding]


class _UndoError(Exception):
    """Ends a transaction whose work is not to stay."""


async def import_bundle(
    begin: Begin,
    read: ReadBundle,
    *,
    dry_run: bool,
    actor: str,
    own_hosts: Sequence[str],
    engine: Engine,
    audit: AuditLog,
    clock: Clock,
) -> Imported:
    """What became of each template; a `BundleRefusedError` with everything that is wrong, and nothing written.

    A trial refuses nothing: it has the same findings in its answer.
    """
    taken: list[Taken] = []
    findings = list(read.findings)
    drafts: list[ReadVersion] = []
    try:
        async with begin() as tx:
            # All at once and before the first line of the audit: who publishes holds a template and waits for that.
            await lock_templates(tx, templates=[(one.key, one.channel) for one in read.templates])
            findings += await _take_layouts(tx, read, actor=actor, audit=audit, clock=clock)
            for wanted in read.templates:
                result = await _take(tx, wanted, actor=actor, audit=audit, clock=clock)
                if isinstance(result, Taken):
                    taken.append(result)
                else:
                    findings += result
            fresh = [one for one in taken if one.version.status is VersionStatus.DRAFT]
            for one in fresh[:_MOST_CHECKED]:
                drafts.append(await in_surroundings(tx, one.template, one.version, own_hosts=own_hosts))
            _undo_if(dry_run or _has_errors(findings))
    except _UndoError:
        if not dry_run:
            raise BundleRefusedError(findings) from None
    checked = [_unchecked(one) for one in fresh[_MOST_CHECKED:]]
    for draft in drafts:
        checked += (await draft.validated(engine)).findings
    return Imported(taken=taken, findings=findings, checked=checked)


async def _take_layouts(
    tx: store.Side, read: ReadBundle, *, actor: str, audit: AuditLog, clock: Clock
) -> list[Finding]:
    if not read.layouts:
        return []
    if not isinstance(tx, TenantTx):
        return [
            error(
                layout_file(name), "is a layout, and the platform has none", "take it out, or use a partial"
            )
            for name in read.layouts
        ]
    known = {layout.name: layout.text for layout in await layouts_store.list_layouts(tx)}
    changed = {name: text for name, text in read.layouts.items() if known.get(name) != text}
    if len(known.keys() | changed.keys()) > layouts_store.MOST:
        what = f"is one of more than {layouts_store.MOST} layouts, with those that are here already"
        return [
            error(layout_file(name), what, "take some out") for name in sorted(changed.keys() - known.keys())
        ]
    if changed:
        await layouts_store.put_layouts(tx, changed, actor=actor, now=clock.now())
        entries = [
            Entry(
                entity_type="layout",
                entity_id=name,
                action="changed" if name in known else "created",
                actor=actor,
            )
            for name in sorted(changed)
        ]
        await audit.append(tx, entries)
    return []


async def _take(
    tx: store.Side,
    wanted: ReadTemplate,
    *,
    actor: str,
    audit: AuditLog,
    clock: Clock,
    again: bool = False,
) -> Taken | list[Finding]:
    home, wish = folder_of(wanted.key, wanted.channel), wanted.wish
    try:
        # A part of its own: where the database refuses it the others are still tried, and told about.
        async with tx.savepoint():
            template = await store.lock_template(tx, key=wanted.key, channel=wanted.channel)
            there = None
            if template is not None:
                there = await store.find_version(tx, template_id=template.id, semver=str(wish.semver))
            if template is None or there is None:
                template, version = await create_version(
                    tx,
                    wish,
                    key=wanted.key,
                    channel=wanted.channel,
                    actor=actor,
                    audit=audit,
                    clock=clock,
                )
                version = await set_assets(tx, version, wanted.assets, clock)
                return Taken(template=template, version=version, outcome="created")
            refuse_changes(template, wish)
            if says_the_same(there, wanted):
                return Taken(template=template, version=there, outcome="unchanged")
            if there.status is not VersionStatus.DRAFT:
                what = f"version {there.semver} was published and says something else"
                return [error(f"{home}/{FACTS}", what, "raise semver", field="semver")]
            draft = await change_draft(
                tx,
                wish,
                key=wanted.key,
                channel=wanted.channel,
                # The files are what counts; two who push at once agree in their repository, not here.
                expect=lambda _: None,
                actor=actor,
                audit=audit,
                clock=clock,
            )
            draft = await set_assets(tx, draft, wanted.assets, clock)
            return Taken(template=template, version=draft, outcome="replaced")
    except InvalidError as invalid:
        return list(refused(home, wanted.formats, invalid))
    except TemplateVersionTakenError as taken:
        if not again:
            # Somebody sent the same just before us; now that it is there it can be compared.
            return await _take(tx, wanted, actor=actor, audit=audit, clock=clock, again=True)
        return [error(f"{home}/{FACTS}", str(taken), "raise semver", field="semver")]


def _unchecked(one: Taken) -> Finding:
    return warning(
        f"{folder_of(one.template.key, one.template.channel)}/{FACTS}",
        "was not looked at by the validator: there are many in this zip",
        "validate it by itself",
    )


def says_the_same(there: Version, wanted: ReadTemplate) -> bool:
    """Whether the files add nothing to what is there."""
    wish = wanted.wish
    return (
        dict(there.variables_schema) == dict(wish.variables_schema)
        and {tag: text.source for tag, text in there.locales.items()} == dict(wish.locales)
        and dict(there.samples) == dict(wish.samples)
        and tuple(there.fallback_chain) == tuple(wish.fallback_chain)
        and dict(there.partials) == dict(wish.partials)
        and dict(there.strings) == dict(wish.strings)
        and there.layout == wish.layout
        and dict(there.assets) == {asset.name: asset.facts for asset in wanted.assets}
        # An AI draft stays one, whether its files say so or not.
        and wish.provenance in (None, there.provenance)
    )


def _undo_if(wanted: bool) -> None:  # noqa: FBT001
    if wanted:
        raise _UndoError


def _has_errors(findings: Sequence[Finding]) -> bool:
    return any(found.severity == "error" for found in findings)
